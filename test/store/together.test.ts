/** Requests that are answered together: the store is looked at once for all of them, and stands still meanwhile. */
import { Database } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { digestOf } from "../../src/contract/key.ts";
import { readLeadQuery } from "../../src/contract/parameters.ts";
import { watchCommits } from "../../src/sqlite/commits.ts";
import { openServedStore } from "../../src/sqlite/served-store.ts";
import { StoreFailure } from "../../src/store/reading.ts";
import { aLead, someLeads } from "../builders.ts";
import { serve } from "../harness.ts";

const firstPage = readLeadQuery("");

/** `ask` tells what a request learns: whether its key is revoked, and how many leads there are. */
async function aServer() {
  const server = await serve({ leads: [aLead()] });
  const { id, secret } = server.aKeyRecord();
  const ask = () => ({
    revoked: server.store.keys.find(digestOf(secret))?.revoked,
    leads: server.store.leads.page(server.account.number, firstPage).documents.length,
  });
  return { ...server, revoke: () => server.admin.keys.revoke(id, 0), ask };
}

test("what others write meanwhile is seen after it, a revocation and a lead alike", async () => {
  const { store, revoke, importMore, ask } = await aServer();
  store.together(() => {
    expect(ask()).toEqual({ revoked: false, leads: 1 });
    revoke();
    importMore([aLead()]);
    expect(ask()).toEqual({ revoked: false, leads: 1 });
  });
  expect(ask()).toEqual({ revoked: true, leads: 2 });
});

test("what others wrote before it is seen by the first who asks", async () => {
  const { store, revoke, ask } = await aServer();
  expect(ask().revoked).toBe(false);
  const before = store.version();
  revoke();
  store.together(() => {
    expect(ask().revoked).toBe(true);
    expect(store.version()).not.toBe(before);
  });
});

test("it holds nobody up afterwards, though what was asked failed", async () => {
  const { store, file, ask } = await aServer();
  expect(() =>
    store.together(() => {
      ask();
      throw new Error("asked in vain");
    }),
  ).toThrow("asked in vain");
  using other = new Database(file);
  other.run("PRAGMA busy_timeout = 0");
  expect(other.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy).toBe(0);
  expect(ask().revoked).toBe(false);
});

test("everybody is told that the file is gone, and each for himself", async () => {
  const { store, file, ask } = await aServer();
  expect(ask().revoked).toBe(false);
  rmSync(file);
  await Bun.sleep(5);
  let failures = 0;
  store.together(() => {
    for (let client = 0; client < 3; client++) {
      try {
        ask();
      } catch (failure) {
        if (failure instanceof StoreFailure) failures++;
      }
    }
  });
  expect(failures).toBe(3);
});

test("a page of the file that is damaged fails who asks for it, and nobody after him", async () => {
  const leads = someLeads(500);
  const { file, account, stop } = await serve({ leads });
  await stop();
  damageSomeLeads(file);
  const store = openServedStore(file);
  onTestFinished(() => store.close());
  const failed = leads.map((lead) => {
    const query = readLeadQuery(`limit=1&before=${lead.identified_at}`);
    try {
      store.together(() => void store.leads.page(account.number, query));
      return false;
    } catch (failure) {
      expect(failure).toBeInstanceOf(StoreFailure);
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

test("a commit whose look failed is seen by the next look", async () => {
  const { file, aKey } = await serve();
  using client = new Database(file);
  const prepare = client.prepare.bind(client);
  let fails = false;
  const version = prepare("PRAGMA data_version");
  client.prepare = (() => ({
    get() {
      if (fails) throw new Error("the disk failed");
      return version.get();
    },
  })) as unknown as typeof client.prepare;
  const commits = watchCommits(drizzle({ client }), file);
  onTestFinished(commits.close);
  commits.newer();
  expect(commits.newer()).toBe(false);
  fails = true;
  aKey();
  expect(() => commits.newer()).toThrow("the disk failed");
  fails = false;
  expect(commits.newer()).toBe(true);
});
