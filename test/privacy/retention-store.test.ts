/** The last moment that an account keeps: what was identified then stays, and what was a millisecond before goes. */
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { dayMs } from "../../src/contract/calendar.ts";
import { applyRetention, isRetentionDue, surveyRetention } from "../../src/privacy/retention.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aLead, importLeads, newLead, noonMs } from "../support/builders.ts";
import { filesWith } from "../support/bytes.ts";
import { aFolder } from "../support/folder.ts";
import { anAccount } from "../support/harness.ts";
import { retain } from "../support/privacy.ts";

const days = 30;
const oldestMs = noonMs - days * dayMs;
const leadAt = (ms: number) => aLead({ identified_at: new Date(ms).toISOString() });

function aStore(folder = aFolder()) {
  const store = openAdminStore(join(folder, "leadfile.db"));
  onTestFinished(() => store.close());
  return store;
}

test("a lead that is as old as its account keeps is not erased, and one that is older is", async () => {
  const store = aStore();
  const kept = leadAt(oldestMs);
  const account = anAccount(store, { leads: [leadAt(oldestMs - 1), kept] });
  expect(await retain(store.database, account, days, noonMs)).toEqual([1]);
  expect([...store.leads.export(account.number)].flat()).toEqual([JSON.stringify(kept)]);
});

test("a row that is as old as its account keeps is imported, and one that is older is rejected", async () => {
  const store = aStore();
  const account = anAccount(store);
  expect(await retain(store.database, account, days, noonMs)).toEqual([]);
  const leads = [leadAt(oldestMs), leadAt(oldestMs - 1)].map(newLead);
  expect(importLeads(store.leads, account.number, leads).map(({ kind }) => kind)).toEqual(["imported", "rejected"]);
});

test("a survey tells how many leads are older than the account would keep, and how many there are", async () => {
  const store = aStore();
  const account = anAccount(store, { leads: [leadAt(oldestMs - 5), leadAt(oldestMs)] });
  expect(surveyRetention(store.database.read, account.number, days, noonMs)).toEqual({
    older: 1,
    all: 2,
    isFarAhead: false,
  });
  expect(surveyRetention(store.database.read, account.number, days, noonMs + 1)).toEqual({
    older: 2,
    all: 2,
    isFarAhead: false,
  });
});

test("the bytes that a killed retention has left are removed by the next one, once", async () => {
  const folder = aFolder();
  const store = aStore(folder);
  const { database } = store;
  const account = anAccount(store, { leads: [{ ...leadAt(oldestMs - 1), email: "zefira@example.com" }] });
  expect(await retain(database, account, days, noonMs)).toEqual([1]);
  expect(filesWith(folder, "zefira@example.com")).not.toEqual([]);
  expect(isRetentionDue(database.read, noonMs)).toBe(true);
  expect(await applyRetention(database, noonMs, false)).toEqual({ erased: 0, waitsUntilMs: null });
  expect([filesWith(folder, "zefira@example.com"), isRetentionDue(database.read, noonMs)]).toEqual([[], false]);
});
