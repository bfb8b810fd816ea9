/** An import that ends while its leads go in: what stays, what is said of it, and how it is completed. */
import { expect, onTestFinished, test } from "bun:test";
import { existsSync } from "node:fs";
import { openAdminStore } from "../../src/sqlite/admin-store.ts";
import { type Admin, anAdmin } from "../admin.ts";
import { onTerminal, plain } from "../terminal.ts";

const many = 20_000;
const rows = Array.from({ length: many }, (_, n) => `2026-01-31,px,d${n}@example.com\n`);

/** Does something once the first leads are in, and asks for the lock until the end, so that transactions are short. */
async function onceLeadsAreIn(admin: Admin, ended: Promise<number>, act: () => void): Promise<number> {
  const store = openAdminStore(admin.file);
  onTestFinished(() => store.close());
  const account = store.accounts.find("acme");
  if (account === null) throw new Error("there is no account acme");
  let status: number | null = null;
  void ended.then((told) => (status = told));
  for (let acted = false; status === null; await Bun.sleep(20)) {
    if (existsSync(`${admin.file}.asking`)) store.accounts.setActive(account.number, true);
    if (acted || store.imports.list(account).length === 0) continue;
    act();
    acted = true;
  }
  return status;
}

function aLargeImport() {
  const admin = anAdmin();
  const file = admin.put("export.csv", `date,pixel_id,email\n${rows.join("")}`);
  return { admin, args: ["lead", "import", "acme", file, "--create-pixels"] };
}

test("Ctrl-C says how far it came and that the same again completes it; then it does", async () => {
  const { admin, args } = aLargeImport();
  const terminal = onTerminal(admin.file, args);
  expect(await onceLeadsAreIn(admin, terminal.ended, () => terminal.type("\u0003"))).toBe(130);
  const said = /Stopped after ([\d,]+) of 20,000 leads, which stay\. Run it again, and it completes; .*undo/.exec(
    plain(terminal.shown()),
  );
  const stayed = Number(said?.[1]?.replaceAll(",", ""));
  expect((await admin.leads()).length).toBe(stayed);
  const { json, status } = await admin.run(...args, "--json");
  expect({ status, ...json }).toMatchObject({ status: 0, imported: many - stayed, duplicates: stayed });
}, 60_000);

test("one that was killed is listed as not finished, until its file was imported again", async () => {
  const { admin, args } = aLargeImport();
  const child = admin.start(...args);
  await onceLeadsAreIn(admin, child.exited, () => child.kill("SIGKILL"));
  const cut = await admin.run("import", "list", "acme");
  expect(cut.stdout).toMatch(/^1 .* not finished .*export\.csv$/m);
  expect(cut.stderr).toMatch(/^Import 1 is not finished: .*import its file again to complete it\.\n$/);
  expect((await admin.run(...args)).status).toBe(0);
  const { json, stderr } = await admin.run("import", "list", "acme", "--json");
  expect(json).toMatchObject([
    { import: 2, state: "done", finished_at: expect.any(String) },
    { import: 1, state: "not finished", finished_at: null },
  ]);
  expect(stderr).toBe("");
}, 60_000);
