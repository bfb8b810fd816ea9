/** Retention: the last timestamp that an account keeps, bytes that a kill leaves, and a clock that may be wrong. */
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../src/contract/calendar.ts";
import { insertAct, listActs } from "../../src/db/audit.ts";
import { openFileDatabase } from "../../src/db/open.ts";
import { Erasure } from "../../src/privacy/erase.ts";
import { applyRetention, isRetentionDue, setRetention, surveyRetention } from "../../src/privacy/retention.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { anAccount, documentsOf, importLeads, openTestDatabase } from "../support/database.ts";
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

test("a row exactly as old as the retention is imported, and an older one is rejected", async () => {
  const database = aFile();
  const account = anAccount(database);
  expect(await retain(database, account, days, noonMs)).toEqual([]);
  const leads = [leadAt(oldestMs), leadAt(oldestMs - 1)].map(newLead);
  expect(importLeads(database, account.number, leads).map(({ kind }) => kind)).toEqual(["imported", "rejected"]);
});

test("a survey counts all leads and those older than the retention", async () => {
  const database = aFile();
  const account = anAccount(database, { leads: [leadAt(oldestMs - 5), leadAt(oldestMs)] });
  for (const [nowMs, older] of [
    [noonMs, 1],
    [noonMs + 1, 2],
  ] as const) {
    const survey = surveyRetention(database.read, account.number, days, nowMs);
    expect(survey).toEqual({ older, all: 2, isFarAhead: false });
  }
});

test("the next retention removes the residual bytes of a killed one, once", async () => {
  const folder = aFolder();
  const database = aFile(folder);
  const account = anAccount(database, { leads: [{ ...leadAt(oldestMs - 1), email: "zefira@example.com" }] });
  expect(await retain(database, account, days, noonMs)).toEqual([1]);
  expect(filesWith(folder, "zefira@example.com")).not.toEqual([]);
  expect(isRetentionDue(database.read, noonMs)).toBe(true);
  expect(await applyRetention(database, noonMs, false)).toEqual({ erased: 0, waitsUntilMs: null });
  expect([filesWith(folder, "zefira@example.com"), isRetentionDue(database.read, noonMs)]).toEqual([[], false]);
});

test("the daily work erases what is too old in each account, and records it once", async () => {
  const database = aFile();
  for (const count of [1, 2]) {
    const leads = Array.from({ length: count }, (_, place) => leadAt(oldestMs - 1 - place));
    await setRetention(database, anAccount(database, { leads }), days, noonMs);
  }
  const results = [await applyRetention(database, noonMs, false), await applyRetention(database, noonMs, false)];
  expect(results.map(({ erased }) => erased)).toEqual([3, 0]);
  const acts = listActs(database.read, 10, null).filter(({ act }) => act === "retain.erase");
  expect(acts.map(({ detail }) => detail)).toEqual([2, 1].map((erased) => ({ days, erased })));
});

test("the daily work completes the receipt of an erasure that was killed", async () => {
  const database = aFile();
  const account = anAccount(database, { leads: [aLead({ email: "zefira@example.com" })] });
  const zefira = { kind: "email", value: "zefira@example.com" } as const;
  const erasure = new Erasure(database, account, [zefira], { withMentions: false, onRead: () => {} }, noonMs);
  for await (const _ of erasure.steps());
  await database.removeResidualBytes();
  // A running one completes its receipt within ten seconds.
  const [runningMs, killedMs] = [noonMs + 10_000, noonMs + 10_001];
  expect([runningMs, killedMs].map((ms) => isRetentionDue(database.read, ms))).toEqual([false, true]);
  await applyRetention(database, killedMs, false);
  expect(isRetentionDue(database.read, killedMs)).toBe(false);
});

/** A file in which something was recorded at noon. */
function aClock() {
  const opened = openFileDatabase(join(aFolder(), "leadfile.db"));
  onTestFinished(() => opened.close());
  const database = opened.read;
  const record = (atMs: number) => insertAct(database, { act: "key.create", account: null, detail: {}, atMs }).run();
  record(noonMs);
  const waits = async (nowMs: number, hasJumped: boolean) =>
    (await applyRetention(opened, nowMs, hasJumped)).waitsUntilMs;
  return { database, record, waits };
}
const ahead = noonMs + 400 * dayMs;

test("a clock close to the last write is trusted", async () => {
  const { waits } = aClock();
  for (const days of [-400, 0, 7]) expect(await waits(noonMs + days * dayMs, false)).toBeNull();
});

test("a clock more than a week ahead is trusted after a day", async () => {
  const { record, waits } = aClock();
  expect(await waits(ahead, false)).toBe(ahead + dayMs);
  record(ahead + 1);
  expect(await waits(ahead + dayMs - 1, false)).toBe(ahead + dayMs);
  expect(await waits(ahead + dayMs, false)).toBeNull();
});

test("a clock that jumps under a running server is trusted after a day, even with requests", async () => {
  const { record, waits } = aClock();
  record(ahead);
  expect(await waits(ahead, true)).toBe(ahead + dayMs);
  expect(await waits(ahead + 1, false)).toBe(ahead + dayMs);
});

test("a corrected clock is trusted immediately", async () => {
  const { waits } = aClock();
  expect(await waits(noonMs + 400 * dayMs, false)).not.toBeNull();
  expect(await waits(noonMs + 1, false)).toBeNull();
});

test("a wrong clock that returns is not trusted for what was written under it", async () => {
  const { database, record, waits } = aClock();
  await waits(ahead, false);
  record(ahead + 1);
  expect(isRetentionDue(database, ahead + 2)).toBe(false);
  expect(isRetentionDue(database, noonMs + 1)).toBe(true);
  expect(await waits(noonMs + 1, false)).toBeNull();
  expect(isRetentionDue(database, noonMs + 1)).toBe(false);
  expect(await waits(ahead + 2 * dayMs, false)).toBe(ahead + 3 * dayMs);
});

test("a write under a wrong clock does not make a server trust it", async () => {
  const { record, waits } = aClock();
  record(ahead);
  expect(await waits(ahead + 1, false)).toBe(ahead + 1 + dayMs);
});

test("days with requests show that the clock is right, up to a gap", async () => {
  const { database, waits } = aClock();
  database.run(sql`INSERT INTO accounts (number, id, name, active, created_at) VALUES (1, 'a', 'a', 1, 0)`);
  database.run(
    sql`INSERT INTO keys (number, account, id, digest, prefix, created_at) VALUES (1, 1, 'k', x'00', '', 0)`,
  );
  const use = (days: number) =>
    database.run(sql`INSERT INTO usage (key, day, requests) VALUES (1, ${dayOf(noonMs + days * dayMs)}, 1)`);
  // Each begins exactly a week after the end of the one before, apart from the last.
  for (const days of [5, 13, 21, 300]) use(days);
  expect(await waits(noonMs + 25 * dayMs, false)).toBeNull();
  expect(await waits(noonMs + 301 * dayMs, false)).not.toBeNull();
});
