/** bun admin restore: the record of imports, and of the recipients of their leads, outlives it. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { dayMs } from "../../../src/contract/calendar.ts";
import { anAdmin } from "../../support/admin.ts";
import { backUp, header, printed, rows } from "./a-backup.ts";

const threeDaysAgoMs = Date.now() - 3 * dayMs;
const day = new Date(threeDaysAgoMs + dayMs).toISOString().slice(0, 10);

/** A database with a key. */
async function aLedger() {
  const admin = anAdmin();
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const change = (...statements: readonly string[]) => {
    using database = new Database(admin.file);
    database.run("PRAGMA busy_timeout = 5000");
    for (const statement of statements) database.run(statement);
  };
  /** Records that every key received all leads, two days ago. */
  const disclose = () =>
    change(`INSERT INTO disclosures SELECT number, '${day}', '', 0, ${Date.now()}, NULL FROM keys`);
  const expectReceived = async (email: string) => {
    const { received } = (await admin.run("lead", "find", "acme", "--email", email, "--json")).json;
    expect(received).toMatchObject([{ key: id, first: day, last: day, possibly: true }]);
  };
  return { admin, change, disclose, expectReceived };
}

test("imports since the backup are listed as undone, and the recipients of their leads are known when they are imported again", async () => {
  const { admin, change, disclose, expectReceived } = await aLedger();
  const file = await backUp(admin);
  await admin.import(header + rows(0, 3));
  change(`UPDATE imports SET at = ${threeDaysAgoMs}, finished_at = ${threeDaysAgoMs}`);
  disclose();
  expect((await admin.run("restore", file)).stderr).toContain("the record of imports (1)");
  expect(await printed(admin, "import", "list", "acme")).toMatchObject([{ state: "undone" }]);
  expect((await admin.import(header + rows(0, 3))).json).toMatchObject({ import: 2, imported: 3 });
  await expectReceived("d1@example.com");
});

test("the recipients of leads that an import added during a backup are known when they are imported again", async () => {
  const { admin, change, disclose, expectReceived } = await aLedger();
  await admin.import(header + rows(0, 3));
  change(`UPDATE imports SET at = ${threeDaysAgoMs}, finished_at = NULL`);
  const file = await backUp(admin);
  // It goes on.
  await admin.import(header + rows(3, 6));
  change(
    "UPDATE imports SET finished_at = at, newest = (SELECT newest FROM imports WHERE number = 2)",
    "DELETE FROM imports WHERE number = 2",
  );
  disclose();
  expect((await admin.run("restore", file)).status).toBe(0);
  expect((await admin.import(header + rows(0, 6))).json).toMatchObject({ duplicates: 3, imported: 3 });
  await expectReceived("d4@example.com");
});

test("a running import keeps the newer of two positions after a restore", async () => {
  const { admin, change } = await aLedger();
  await admin.import(header + rows(0, 3));
  const files: string[] = [];
  for (const [oldest, newest] of [
    [2000, 3000],
    [1000, 4000],
  ]) {
    change(`UPDATE imports SET finished_at = NULL, oldest = ${oldest}, newest = ${newest}`);
    files.push(await backUp(admin, `${newest}.db`));
  }
  const machine = anAdmin([]);
  for (const file of files) expect((await machine.run("restore", file)).status).toBe(0);
  using restored = new Database(machine.file);
  expect(restored.query("SELECT oldest, newest FROM imports").values()).toEqual([[1000, 4000]]);
});

test("a key that received leads since the backup is lost, also if a newer backup knows it", async () => {
  const { admin, disclose } = await aLedger();
  const file = await backUp(admin);
  await admin.run("key", "create", "acme");
  disclose();
  await backUp(admin, "newer.db");
  expect((await admin.run("restore", file, "--json")).json).toMatchObject({ lost: { keys: 1 } });
});
