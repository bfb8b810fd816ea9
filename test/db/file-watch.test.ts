/** The file of a running server: others write it, damage it, or remove its parts. */
import { Database } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { digestOf } from "../../src/contract/key.ts";
import { toLeadQuery } from "../../src/contract/parameters.ts";
import { isDatabaseFailure } from "../../src/db/failure.ts";
import { watchFile } from "../../src/db/file-watch.ts";
import { openDatabase } from "../../src/db/open.ts";
import { openReader } from "../../src/db/reader.ts";
import { openServedStore } from "../../src/server/store.ts";
import { aLead, someLeads } from "../support/builders.ts";
import { eventually } from "../support/eventually.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";

test("the version changes after other programs write, but not after the server's own counts", async () => {
  const { store, aKey, importMore } = await serve();
  const { number } = store.keys.find(digestOf(aKey())) ?? { number: -1 };
  const before = store.version();
  store.usage.count(number, 0);
  expect(store.flush()).toBe("done");
  expect(store.version()).toBe(before);
  importMore([aLead()]);
  expect(store.version()).not.toBe(before);
});

test("files that are replaced while they are opened are noticed", () => {
  const path = join(aFolder(), "leadfile.db");
  const script = `
    const { Database } = require("bun:sqlite"), fs = { ...require("node:fs") }, path = ${JSON.stringify(path)};
    const create = () => { const made = new Database(path); made.run("PRAGMA journal_mode = WAL"); return made; };
    const replace = () => { for (const end of ["", "-wal", "-shm"]) fs.renameSync(path + end, path + "-old" + end); create().run("CREATE TABLE notes (text)"); };
    create().run("CREATE TABLE notes (text)");
    require("node:fs").openSync = (of, flags) => {
      const opened = fs.openSync(of, flags);
      if (of.endsWith("-shm")) replace();
      return opened;
    };
    const { watchFile } = await import(${JSON.stringify(join(import.meta.dir, "../../src/db/file-watch.ts"))});
    try { watchFile(path).assertSame(); } catch (cause) { console.log(cause.message); }`;
  const { stdout } = Bun.spawnSync([process.execPath, "-e", script]);
  expect(stdout.toString()).toBe("The database file was replaced.\n");
});

test("the version changes whenever SQLite reports a commit of another connection, whatever happens to the file and its log", () => {
  const path = join(aFolder(), "leadfile.db");
  const [ours, asked, theirs] = [openDatabase(path), openDatabase(path), openDatabase(path)];
  theirs.$client.run("CREATE TABLE notes (text TEXT)");
  const reader = openReader(ours, path);
  // This connection asks SQLite each time.
  const asking = openReader(asked, path, { assertSame() {}, mayHaveCommits: () => true, close() {} });
  onTestFinished(() => {
    for (const connection of [ours, asked, theirs]) connection.$client.close(true);
    reader.close();
  });
  const insert = (bytes: number) => `INSERT INTO notes VALUES ('${"a".repeat(bytes)}')`;
  const acts: Readonly<Record<string, () => unknown>> = {
    nothing: () => {},
    commit: () => theirs.$client.run(insert(10)),
    "large commit": () => theirs.$client.run(insert(200_000)),
    // The transaction is larger than the cache, so that SQLite writes to the log before the rollback.
    rollback: () => theirs.$client.run(`BEGIN; ${insert(3_000_000)}; ROLLBACK`),
    read: () => theirs.$client.run("SELECT count(*) FROM notes"),
    checkpoint: () => theirs.$client.run("PRAGMA wal_checkpoint(PASSIVE)"),
    restart: () => theirs.$client.run("PRAGMA wal_checkpoint(RESTART)"),
    truncation: () => theirs.$client.run("PRAGMA wal_checkpoint(TRUNCATE)"),
    vacuum: () => theirs.$client.run("VACUUM"),
  };
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...Object.keys(acts)), { minLength: 1, maxLength: 12 }), (names) => {
      for (const name of names) {
        const before = [reader.version(), asking.version()];
        acts[name]?.();
        const after = [reader.version(), asking.version()];
        expect({ name, isNew: after[0] !== before[0] }).toEqual({ name, isNew: after[1] !== before[1] });
      }
    }),
    { numRuns: 30 },
  );
});

test("no cached page is served after the query for the version failed", () => {
  const path = join(aFolder(), "leadfile.db");
  const database = openDatabase(path);
  const answers = [true, true, false];
  const mayHaveCommits = () => answers.shift() === true;
  const reader = openReader(database, path, { assertSame() {}, mayHaveCommits, close() {} });
  expect(reader.version()).toBeNumber();
  // With all of its statements.
  database.$client.close(true);
  expect(() => reader.version()).toThrow();
  expect(reader.version()).toBeNaN();
});

test("SQLite is asked only after a commit, or if the index of the log cannot be read", () => {
  const path = join(aFolder(), "leadfile.db");
  const database = openDatabase(path);
  const file = watchFile(path);
  onTestFinished(() => {
    database.$client.close(true);
    file.close();
  });
  const asked = [file.mayHaveCommits(), file.mayHaveCommits()];
  database.$client.run("CREATE TABLE notes (text TEXT)");
  asked.push(file.mayHaveCommits(), file.mayHaveCommits());
  expect(asked).toEqual([true, false, true, false]);
});

test.each([null, "short"])("SQLite is asked each time if the index of the log is %p", (index) => {
  const path = join(aFolder(), "leadfile.db");
  writeFileSync(path, "");
  if (index !== null) writeFileSync(`${path}-shm`, index);
  const file = watchFile(path);
  onTestFinished(() => file.close());
  expect([file.mayHaveCommits(), file.mayHaveCommits()]).toEqual([true, true]);
});

test("a file that is moved away and back is served again", async () => {
  const { as, aKey, file } = await serve({ leads: [aLead()] });
  const isServed = async (status: number) => expect((await as(key).get("/leads")).status).toBe(status);
  const key = aKey();
  await isServed(200);
  renameSync(file, `${file}.aside`);
  await eventually(() => isServed(500));
  renameSync(`${file}.aside`, file);
  await eventually(() => isServed(200));
});

test("a damaged page fails only the requests that read it", async () => {
  const leads = someLeads(500);
  const { file, account, stop } = await serve({ leads });
  await stop();
  damageSomeLeads(file);
  const store = openServedStore(file);
  onTestFinished(() => store.close());
  const failed = leads.map((lead) => {
    const query = toLeadQuery({ limit: 1, before: lead.identified_at });
    try {
      store.leads.page(account.number, query);
      return false;
    } catch (failure) {
      expect(isDatabaseFailure(failure)).toBe(true);
      return true;
    }
  });
  expect(new Set(failed)).toEqual(new Set([true, false]));
  expect(failed.lastIndexOf(false)).toBeGreaterThan(failed.indexOf(true));
});

/** Makes a page of leads in the middle of the file one that SQLite cannot read. */
function damageSomeLeads(file: string): void {
  using tool = new Database(file);
  tool.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const pageBytes = 8192;
  const bytes = readFileSync(file);
  const pages = Array.from({ length: bytes.length / pageBytes }, (_, page) => page * pageBytes).filter(
    (at) => bytes[at] === 0x0d && bytes.subarray(at, at + pageBytes).includes('"identified_at"'),
  );
  const middle = pages[Math.floor(pages.length / 2)];
  if (middle === undefined) throw new Error("the file has no page of leads");
  writeFileSync(file, bytes.fill(0, middle, middle + 8));
}
