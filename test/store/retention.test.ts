/** The last moment that an account keeps: what was identified then stays, and what was a millisecond before goes. */
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { dayMs } from "../../src/contract/time.ts";
import { openAdminStore } from "../../src/sqlite/admin-store.ts";
import { aLead, importLeads, newLead, noonMs } from "../builders.ts";
import { aFolder } from "../folder.ts";
import { anAccount } from "../harness.ts";

const days = 30;
const oldestMs = noonMs - days * dayMs;
const leadAt = (ms: number) => aLead({ identified_at: new Date(ms).toISOString() });

function aStore() {
  const store = openAdminStore(join(aFolder(), "leadfile.db"));
  onTestFinished(() => store.close());
  return store;
}

test("a lead that is as old as its account keeps is not erased, and one that is older is", () => {
  const store = aStore();
  const kept = leadAt(oldestMs);
  const account = anAccount(store, { leads: [leadAt(oldestMs - 1), kept] });
  expect(store.retention.set(account, days, noonMs).erased).toBe(1);
  expect([...store.leads.export(account.number)].flat()).toEqual([JSON.stringify(kept)]);
});

test("a row that is as old as its account keeps is imported, and one that is older is rejected", () => {
  const store = aStore();
  const account = anAccount(store);
  store.retention.set(account, days, noonMs);
  const leads = [leadAt(oldestMs), leadAt(oldestMs - 1)].map(newLead);
  expect(importLeads(store.leads, account.number, leads).map(({ kind }) => kind)).toEqual(["imported", "rejected"]);
});

test("an account whose newest lead is as old as it is to keep would not lose all", () => {
  const store = aStore();
  const account = anAccount(store, { leads: [leadAt(oldestMs - 5), leadAt(oldestMs)] });
  expect(store.retention.wouldEraseAll(account.number, days, noonMs)).toBe(false);
  expect(store.retention.wouldEraseAll(account.number, days, noonMs + 1)).toBe(true);
});
