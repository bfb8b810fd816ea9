/** Retention: the last timestamp that an account keeps, bytes that a kill leaves, and a clock that may be wrong. */
import { expect, onTestFinished, test } from "bun:test";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { dayMs, dayOf } from "../../src/contract/calendar.ts";
import { insertAct, listActs } from "../../src/db/audit.ts";
import { leads } from "../../src/db/schema.ts";
import { Erasure } from "../../src/privacy/erase.ts";
import { applyRetention, eraseOlder, isRetentionDue, setRetention } from "../../src/privacy/retention.ts";
import { openServedStore } from "../../src/server/store.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { aKey, anAccount, documentsOf, importLeads, openTestDatabase } from "../support/database.ts";
import { aFolder, filesWith } from "../support/folder.ts";
import { retain } from "../support/privacy.ts";

const days = 30;
const oldestMs = noonMs - days * dayMs;
const leadAt = (ms: number) => aLead({ identified_at: new Date(ms).toISOString() });

function aFile(folder = aFolder()) {
  const database = openTestDatabase(join(folder, "leadfile.db"));
  onTestFinished(() => database.close());
  return database;
}

test("a lead exactly as old as the retention stays, and an older one is erased", async () => {
  const database = aFile();
  const kept = leadAt(oldestMs);
  const account = anAccount(database, { leads: [leadAt(oldestMs - 1), kept] });
  expect(await retain(database, account, days, noonMs)).toEqual([1]);
  expect(documentsOf(database, account.number)).toEqual([JSON.stringify(kept)]);
});

test("a retention that runs erases nothing once its account has another one", async () => {
  const database = aFile();
  const account = anAccount(database, { leads: [leadAt(oldestMs - 1)] });
  await setRetention(database, account, days, noonMs);
  const steps = eraseOlder(database, { ...account, retainDays: days }, noonMs);
  await setRetention(database, account, null, noonMs);
  expect(await Array.fromAsync(steps)).toEqual([]);
  expect(documentsOf(database, account.number)).toHaveLength(1);
});

test("a row exactly as old as the retention is imported, and an older one is rejected", async () => {
  const database = aFile();
  const account = anAccount(database);
  expect(await retain(database, account, days, noonMs)).toEqual([]);
  const leads = [leadAt(oldestMs), leadAt(oldestMs - 1)].map(newLead);
  expect(importLeads(database, account.number, leads).map(({ kind }) => kind)).toEqual(["imported", "rejected"]);
});

test("the next retention removes the residual bytes of a killed one, once", async () => {
  const folder = aFolder();
  const database = aFile(folder);
  const account = anAccount(database, { leads: [{ ...leadAt(oldestMs - 1), email: "zefira@example.com" }] });
  await setRetention(database, account, days, noonMs);
  await eraseOlder(database, { ...account, retainDays: days }, noonMs).next();
  expect(filesWith(folder, "zefira@example.com")).not.toEqual([]);
  expect(isRetentionDue(database.read, noonMs)).toBe(true);
  expect(await applyRetention(database, noonMs)).toEqual({ erased: 0, waiting: [] });
  expect([filesWith(folder, "zefira@example.com"), isRetentionDue(database.read, noonMs)]).toEqual([[], false]);
});

test("the daily work erases what is too old in each account, and records it once", async () => {
  const database = aFile();
  for (const count of [1, 2]) {
    const old = Array.from({ length: count }, (_, place) => leadAt(oldestMs - 1 - place));
    const young = Array.from({ length: count }, (_, place) => leadAt(oldestMs + place));
    await setRetention(database, anAccount(database, { leads: [...old, ...young] }), days, noonMs);
  }
  const results = [await applyRetention(database, noonMs), await applyRetention(database, noonMs)];
  expect(results.map(({ erased }) => erased)).toEqual([3, 0]);
  const acts = listActs(database.read, 10, null).filter(({ act }) => act === "retain.erase");
  expect(acts.map(({ detail }) => detail)).toEqual([2, 1].map((erased) => ({ days, erased })));
});

test("a server that stops during a retention does not drop the locks of its thread", async () => {
  const database = openTestDatabase(join(aFolder(), "leadfile.db"));
  const { path } = database;
  const leads = [leadAt(oldestMs - 1), leadAt(noonMs)];
  await setRetention(database, anAccount(database, { leads }), days, noonMs);
  database.close();
  const store = openServedStore(path);
  const erasing = store.applyRetention(noonMs);
  await store.close();
  expect(await erasing).toEqual({ erased: 1, waiting: [] });
  // Closing any descriptor of a file releases all locks that the process has on the file.
  if (process.platform === "linux") expect(openFiles(path)).toContainEqual(`${path}-shm`);
});

function openFiles(path: string): string[] {
  const descriptors = readdirSync("/proc/self/fd").map((name) => `/proc/self/fd/${name}`);
  const files = descriptors
    .filter((descriptor) => existsSync(descriptor))
    .map((descriptor) => readlinkSync(descriptor));
  return files.filter((file) => file.startsWith(path)).toSorted();
}

test("the daily work completes the receipt of an erasure that was killed", async () => {
  const database = aFile();
  const account = anAccount(database, { leads: [aLead({ email: "zefira@example.com" })] });
  const zefira = { kind: "email", value: "zefira@example.com" } as const;
  const erasure = new Erasure(database, account, [zefira], { withMentions: false, onRead: () => {} }, noonMs);
  for await (const _ of erasure.steps());
  await database.removeResidualBytes();
  expect(isRetentionDue(database.read, noonMs)).toBe(true);
  await applyRetention(database, noonMs);
  expect(isRetentionDue(database.read, noonMs)).toBe(false);
});

/** A file with a retention that was set at noon, leads of some ages in days, and its acts. */
async function aClock(...ages: readonly number[]) {
  const database = aFile();
  const leads = ages.map((age) => leadAt(noonMs - age * dayMs));
  const account = anAccount(database, { leads });
  await setRetention(database, account, days, noonMs);
  const record = (atMs: number) =>
    insertAct(database.read, { act: "key.create", account: null, detail: {}, atMs }).run();
  return { database, account, record, apply: (nowMs: number) => applyRetention(database, nowMs) };
}

test.each([
  ["half of the leads", [31, 31, 1, 1], { erased: 2, waiting: [] }],
  ["more than half", [31, 31, 31, 1, 1], { erased: 0, waiting: [{ older: 3, all: 5, doubt: "half", days }] }],
  ["the only lead", [31], { erased: 0, waiting: [{ older: 1, all: 1, doubt: "half" }] }],
])("of %s that would go at once, a server decides as the contract says", async (_, ages, result) => {
  const { apply, account } = await aClock(...ages);
  const waiting = result.waiting.map((one) => ({ account: account.id, ...one }));
  for (const atMs of [noonMs, noonMs + 1]) {
    const erased = atMs === noonMs ? result.erased : 0;
    expect(await apply(atMs)).toMatchObject({ erased, waiting });
  }
});

test("no lead goes at a clock that is more than 30 days ahead of everything in the file, until a person says so", async () => {
  const { database, account, record, apply } = await aClock(31, 1, 1, 1);
  const aheadMs = noonMs + 30 * dayMs + 1;
  const waiting = [{ account: account.id, days: 60, older: 1, all: 4, doubt: "clock" }] as const;
  await setRetention(database, account, 60, noonMs);
  expect(await apply(aheadMs)).toEqual({ erased: 0, waiting });
  // What is done under that clock does not prove it, however long it goes on.
  for (const later of [0, 1, 2, 10]) record(aheadMs + later * dayMs);
  expect(await apply(aheadMs + 10 * dayMs)).toMatchObject({ erased: 0, waiting });
  await setRetention(database, account, 60, aheadMs + 10 * dayMs);
  expect(await apply(aheadMs + 10 * dayMs)).toEqual({ erased: 1, waiting: [] });
});

test("a clock that is exactly 30 days ahead is trusted, and one that was set back immediately", async () => {
  const { apply } = await aClock(31, 1, 1);
  expect(await apply(noonMs + 31 * dayMs)).toMatchObject({ erased: 0 });
  expect(await apply(noonMs - dayMs)).toEqual({ erased: 0, waiting: [] });
  expect(await apply(noonMs)).toEqual({ erased: 1, waiting: [] });
  const other = await aClock(1, 1, -1, -1, -1);
  expect(await other.apply(noonMs + 30 * dayMs)).toEqual({ erased: 2, waiting: [] });
});

test("days with requests show that the clock is right, up to a gap", async () => {
  const { database, account, apply } = await aClock(1, 1, -300, -301);
  aKey(database, account);
  for (const day of [25, 50, 75])
    database.read.run(
      sql`INSERT INTO usage (key, day, requests) SELECT number, ${dayOf(noonMs + day * dayMs)}, 1 FROM keys`,
    );
  expect(await apply(noonMs + 110 * dayMs)).toMatchObject({ erased: 0, waiting: [{ doubt: "clock" }] });
  expect(await apply(noonMs + 100 * dayMs)).toEqual({ erased: 2, waiting: [] });
});

/** A file whose server has a clock that jumps: acts in any order, and a count of the leads that went before their time. */
async function aClockHistory() {
  const database = aFile();
  const account = anAccount(database);
  await setRetention(database, account, days, noonMs);
  let [trueMs, aheadMs, number, lost] = [noonMs, 0, 0, 0];
  const young = () => {
    const all = database.read.select({ ms: leads.identifiedAt }).from(leads).all();
    return all.filter(({ ms }) => ms >= trueMs - days * dayMs).length;
  };
  const addLead = (atMs: number) =>
    importLeads(database, account.number, [newLead(leadAt(atMs - ++number))], { nowMs: trueMs });
  const acts: Readonly<Record<string, (x: number) => unknown>> = {
    pass: (x) => (trueMs += (1 + (x % 20)) * dayMs),
    ahead: (x) => (aheadMs = (60 + (x % 500)) * dayMs),
    right: () => (aheadMs = 0),
    act: () => insertAct(database.read, { act: "key.create", account: null, detail: {}, atMs: trueMs + aheadMs }).run(),
    lead: (x) => addLead(trueMs - (x % 40) * dayMs),
    // A delivery without a time gets that of the clock.
    arrival: () => addLead(trueMs + aheadMs),
    async apply() {
      const before = young();
      await applyRetention(database, trueMs + aheadMs);
      lost += before - young();
    },
  };
  return { act: async (kind: string, x: number) => void (await acts[kind]?.(x)), lost: () => lost };
}

const clockActs = "pass pass pass ahead right act lead arrival arrival arrival apply apply".split(" ");
const anAct = fc.tuple(fc.constantFrom(...clockActs), fc.nat(10_000));

test("whatever the clock does, a server erases no lead that is younger than its account keeps", async () => {
  const isSafe = fc.asyncProperty(fc.array(anAct, { maxLength: 40 }), async (acts) => {
    const history = await aClockHistory();
    for (const [kind, x] of acts) await history.act(kind, x);
    expect(history.lost()).toBe(0);
  });
  await fc.assert(isSafe, { numRuns: 60 });
});
