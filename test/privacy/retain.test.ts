/** bun admin retain: leads are kept for the given number of days and then erased, and older leads are not imported. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { dayMs } from "../../src/contract/calendar.ts";
import { anAdmin } from "../support/admin.ts";
import { copyLead } from "../support/database.ts";
import { filesWith } from "../support/folder.ts";
import { start } from "../support/process.ts";
import { onTerminal, plain } from "../support/terminal.ts";
import { betweenTransactions } from "../support/write-lock.ts";

const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
const row = (days: number) => `${daysAgo(days)},px,visitor${days}@example.com\n`;
const header = "identified_at,pixel_id,email\n";
const retain = ["retain", "acme", "--days", "45"];

async function aFile() {
  const admin = anAdmin();
  await admin.import(header + [10, 40, 50, 400].map(row).join(""));
  return admin;
}
const emails = async (admin: ReturnType<typeof anAdmin>) => (await admin.leads()).map(({ email }) => email);

test("older leads are erased immediately with their bytes, and younger ones stay", async () => {
  const admin = await aFile();
  const { status, json } = await admin.run(...retain, "--json");
  expect<unknown>({ status, ...json }).toEqual({ status: 0, days: 45, erased: 2 });
  expect(await emails(admin)).toEqual(["visitor40@example.com", "visitor10@example.com"]);
  expect(filesWith(admin.folder, "visitor50@", "visitor400@")).toEqual([]);
});

test("older rows are rejected at import until --days off", async () => {
  const admin = await aFile();
  await admin.run(...retain);
  const rejected = await admin.import(header + row(44) + row(46));
  expect(rejected).toMatchObject({ status: 3, json: { imported: 1, rejected: 1 } });
  expect(rejected.stderr).toContain("older than the retention period of the account (retain --days 45)");
  expect(JSON.parse((await admin.run("account", "list", "--json")).stdout)).toMatchObject([{ retain_days: 45 }]);
  expect((await admin.run("retain", "acme", "--days", "off", "--json")).json as unknown).toEqual({
    days: null,
    erased: 0,
  });
  expect((await admin.import(header + row(46))).json).toMatchObject({ imported: 1 });
});

test("it holds for its account alone", async () => {
  const admin = anAdmin(["other", "acme"]);
  await admin.import(header + row(400) + row(1));
  await admin.run("retain", "other", "--days", "1");
  expect(await emails(admin)).toHaveLength(2);
  expect((await admin.run("account", "list")).stdout).toMatch(/ 1 day +other\n[^\n]+ all +acme\n/);
});

test("a retention that would erase everything requires --yes without a terminal", async () => {
  const admin = await aFile();
  const refused = await admin.run("retain", "acme", "--days", "5", "--json");
  expect(refused).toMatchObject({ status: 1, stdout: "", stderr: expect.stringMatching(/^[^\n]+--yes[^\n]+\n$/) });
  expect(await emails(admin)).toHaveLength(4);
  expect((await admin.import(header + row(401))).json).toMatchObject({ imported: 1 });
  expect((await admin.run("retain", "acme", "--days", "5", "--yes", "--json")).json).toMatchObject({ erased: 5 });
  expect(await emails(admin)).toEqual([]);
  // Of an account without leads nothing would be erased.
  expect((await admin.run("retain", "acme", "--days", "4")).status).toBe(0);
});

test("more than half of the leads require --yes without a terminal, and half do not", async () => {
  const admin = await aFile();
  const refused = await admin.run("retain", "acme", "--days", "30");
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(/ erase 3 of 4 leads of acme\. .*--yes/) });
  expect((await admin.run(...retain, "--json")).json).toMatchObject({ erased: 2 });
});

test("a clock far ahead of the last act requires --yes", async () => {
  const admin = await aFile();
  await admin.run("key", "create", "acme");
  // As if the key had been made a month ago, and nothing been done since.
  using file = new Database(admin.file);
  for (const change of ["audit SET at = at", "imports SET finished_at = finished_at"])
    file.run(`UPDATE ${change} - ${31 * dayMs}`);
  const refused = await admin.run(...retain);
  expect(refused).toMatchObject({
    status: 1,
    stdout: "",
    stderr: expect.stringMatching(/ 2 of 4 leads .+ clock .+--yes/),
  });
  expect(await emails(admin)).toHaveLength(4);
  expect((await admin.run("retain", "acme", "--days", "500")).status).toBe(0);
  expect((await admin.run(...retain, "--yes", "--json")).json).toMatchObject({ erased: 2 });
});

test.each([
  ["no", 1, 4],
  ["yes", 0, 0],
])("on a terminal it asks, and accepts %s", async (answer, status, left) => {
  const admin = await aFile();
  const terminal = onTerminal(admin.file, ["retain", "acme", "--days", "5"]);
  await terminal.seen(/\[y\/N\]/);
  terminal.type(`${answer}\n`);
  expect(await terminal.ended).toBe(status);
  expect(await emails(admin)).toHaveLength(left);
});

test.each(["0", "-1", "1.5", "36501", "ten", ""])("--days %s is a usage error", async (days) => {
  const admin = await aFile();
  expect(await admin.run("retain", "acme", `--days=${days}`)).toMatchObject({ status: 2, stdout: "" });
  expect((await admin.run("retain", "acme")).status).toBe(2);
  expect(await emails(admin)).toHaveLength(4);
});

test("the server applies it at start while it answers, and leaves no residual byte", async () => {
  const admin = anAdmin();
  await admin.run(...retain);
  await admin.run("retain", "acme", "--days", "off");
  await admin.import(header + [10, 20, 50, 400].map(row).join(""));
  // As if the days had passed: set without being applied.
  using file = new Database(admin.file);
  file.run("UPDATE accounts SET retain_days = 45");
  file.close();
  const server = start({ DATABASE_PATH: admin.file }, admin.folder);
  const url = await server.listening();
  await server.said(/"erased":2/);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(filesWith(admin.folder, "visitor50@", "visitor400@")).toEqual([]);
  // Its locks are its own still: a command that comes and goes does not take the log away.
  expect(await emails(admin)).toEqual(["visitor20@example.com", "visitor10@example.com"]);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await server.end("SIGTERM")).toBe(0);
  const acts: { act: string; detail: object }[] = JSON.parse((await admin.run("audit", "list", "--json")).stdout);
  expect(acts.find(({ act }) => act === "retain.erase")?.detail).toEqual({ days: 45, erased: 2 });
});

const many = 8_000;

test("on a terminal it shows its progress, Ctrl-C ends it with what is gone, and a repetition completes it", async () => {
  const admin = anAdmin();
  await admin.import(`${header}${daysAgo(10)},px,young@example.com\n${daysAgo(50)},px,d0@example.com\n`);
  copyLead(admin, many - 1);
  const terminal = onTerminal(admin.file, [...retain, "--yes"], { columns: 200 });
  // It waits to erase more until it is told to stop.
  for await (const { leads } of betweenTransactions(admin.file, terminal.ended)) {
    if (leads > many) continue;
    terminal.type("\u0003");
    break;
  }
  expect(await terminal.ended).toBe(130);
  expect(plain(terminal.shown())).toMatch(/Erasing +\S+ \d+%/);
  const said =
    /Stopped: ([\d,]+) of 8,000 older leads are erased, but their bytes are not removed yet\. Run the command/;
  const gone = Number(said.exec(plain(terminal.shown()))?.[1]?.replaceAll(",", ""));
  expect([gone, (await admin.leads()).length > 1]).toEqual([many + 1 - (await admin.leads()).length, true]);
  expect((await admin.run("account", "list", "--json")).json).toMatchObject([{ retain_days: 45 }]);
  const acts = await admin.run("audit", "list", "--json");
  expect(acts.json).toContainEqual(
    expect.objectContaining({ act: "retain.erase", detail: { days: 45, erased: gone } }),
  );
  const server = start({ DATABASE_PATH: admin.file }, admin.folder);
  await server.listening();
  await server.said(/retention waits for a person/);
  expect((await admin.run(...retain, "--yes", "--json")).json).toMatchObject({ erased: many - gone });
  expect(await admin.leads()).toMatchObject([{ email: "young@example.com" }]);
  expect(filesWith(admin.folder, "d1@", "d7999@")).toEqual([]);
  expect(await server.end("SIGTERM")).toBe(0);
});
