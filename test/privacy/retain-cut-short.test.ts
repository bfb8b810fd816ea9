/** A retention that ends while it erases: what is gone, what is said of it, and how it is completed. */
import { expect, onTestFinished, test } from "bun:test";
import { sql } from "drizzle-orm";
import { dayMs } from "../../src/contract/calendar.ts";
import { openAgain } from "../../src/db/open.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { filesWith } from "../support/bytes.ts";
import { until } from "../support/eventually.ts";
import { start } from "../support/process.ts";
import { onTerminal, plain } from "../support/terminal.ts";

const many = 20_000;
const retain = ["retain", "acme", "--days", "45"];

/** An account with one lead that is young enough, and many that are not. */
async function aLargeFile(): Promise<Admin> {
  const admin = anAdmin();
  const at = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
  const rows = Array.from({ length: many }, (_, n) => `${at(50)},px,visitor${n}@example.com\n`);
  await admin.import(`identified_at,pixel_id,email\n${at(10)},px,young@example.com\n${rows.join("")}`);
  return admin;
}

/** Resolves as soon as the first leads are gone; the last ones need some hundred milliseconds more. */
async function begun({ file }: Admin): Promise<void> {
  const reader = openAgain(file);
  onTestFinished(() => reader.$client.close());
  await until(() => (reader.values<[number]>(sql`SELECT count(*) FROM stored_leads`)[0]?.[0] ?? 0) <= many, 5);
}

const said =
  /^Stopped: ([\d,]+) of 20,000 older leads are gone, and their bytes are still to be removed\. Run it again, [^\n]+\n$/;

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)(
  "%s ends it with %i, and it says how many leads are gone; the next one completes it",
  async (signal, status) => {
    const admin = await aLargeFile();
    const child = admin.start(...retain);
    await begun(admin);
    child.kill(signal);
    expect(await child.exited).toBe(status);
    const gone = Number(said.exec(await child.stderr.text())?.[1]?.replaceAll(",", ""));
    const left = (await admin.leads()).length - 1;
    expect([gone, left > 0]).toEqual([many - left, true]);
    expect((await admin.run("account", "list", "--json")).json).toMatchObject([{ retain_days: 45 }]);
    const acts = await admin.run("audit", "list", "--json");
    expect(acts.json).toContainEqual(
      expect.objectContaining({ act: "retain.erase", detail: { days: 45, erased: gone } }),
    );
    expect((await admin.run(...retain, "--json")).json as unknown).toEqual({ days: 45, erased: left });
    expect(filesWith(admin.folder, "visitor1@", "visitor19999@")).toEqual([]);
  },
);

test("on a terminal it shows how far it is, and the server completes it after Ctrl-C", async () => {
  const admin = await aLargeFile();
  const terminal = onTerminal(admin.file, retain);
  await begun(admin);
  terminal.type("\u0003");
  expect(await terminal.ended).toBe(130);
  expect(plain(terminal.shown())).toMatch(/Erasing +\S+ \d+%.*Stopped: [\d,]+ of 20,000 older leads are gone/s);
  expect((await admin.leads()).length).toBeGreaterThan(1);
  const server = start({ DATABASE_PATH: admin.file }, admin.folder);
  await server.listening();
  await server.said(/older than their account keeps were erased/);
  expect(await admin.leads()).toMatchObject([{ email: "young@example.com" }]);
  expect(filesWith(admin.folder, "visitor1@", "visitor19999@")).toEqual([]);
  expect(await server.end("SIGTERM")).toBe(0);
});
