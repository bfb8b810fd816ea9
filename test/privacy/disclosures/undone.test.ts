/** The recipients of leads that left and arrived again, or that had other values before. */

import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { dayMs, dayOf } from "../../../src/contract/calendar.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import { findImport } from "../../../src/db/imports.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { ledgerGaps } from "../../../src/db/schema.ts";
import { undoImport } from "../../../src/import/write/undo.ts";
import { writeDisclosures } from "../../../src/privacy/disclosures/ledger.ts";
import { liftBlocks } from "../../../src/privacy/suppressions.ts";
import { imported } from "../../db/importing.ts";
import { aLead, newLead, noonMs } from "../../support/builders.ts";
import { aKey, anAccount, openTestDatabase } from "../../support/database.ts";
import { aFolder } from "../../support/folder.ts";
import { erase, held, retain } from "../../support/privacy.ts";

const on = (day: number) => noonMs + day * dayMs;

/** A file with an account and a key. */
function aFile() {
  const path = join(aFolder(), "leadfile.db");
  const file = openTestDatabase(path);
  const database = openDatabase(path);
  onTestFinished(() => {
    database.$client.close();
    file.close();
  });
  const account = anAccount(file);
  aKey(file, account);
  return {
    file,
    account,
    database,
    importOn: (day: number, leads: readonly Lead[], onDuplicate: "skip" | "replace" = "skip") =>
      imported(file, account, leads.map(newLead), {
        now: () => on(day),
        options: { onDuplicate, createPixels: true, dryRun: false },
      }),
    async undoOn(day: number, number: number): Promise<void> {
      const undone = findImport(file.read, account.number, number);
      if (undone === null) throw new Error("there is no such import");
      for await (const _ of undoImport(file, account, undone, on(day)));
    },
    /** As if the key had read a page on each day: of all leads from a moment on, or of those with a filter. */
    readOn(days: readonly number[], oldestMs = 0, filter = "", seen: number | null = null): void {
      const added = [{ oldestMs, newestMs: noonMs, seen }];
      for (const day of days) writeDisclosures(database, { key: 1, day: dayOf(on(day)), filter, removed: [], added });
    },
    received: async ({ id }: Lead) => (await held(file, account, [{ kind: "id", value: id }], on(99)))[0]?.received,
  };
}

const onDay = (day: number, possibly: boolean) => ({ first: dayOf(on(day)), last: dayOf(on(day)), possibly });

test("a page of yesterday may have a lead that was imported at midnight: clocks differ", async () => {
  const { file, account, readOn, received } = aFile();
  const leads = [aLead(), aLead()];
  const midnightMs = Date.parse(dayOf(on(5)));
  for (const [place, lead] of leads.entries()) {
    await imported(file, account, [newLead(lead)], { now: () => midnightMs + place * 90_000 });
  }
  readOn([4]);
  expect(await Promise.all(leads.map(received))).toMatchObject([[onDay(4, true)], []]);
});

test("a lead existed before an import that a wrong clock dates later", async () => {
  const { importOn, readOn, received } = aFile();
  const leads = [aLead(), aLead(), aLead()];
  for (const [place, day] of [20, 5, 3650].entries()) await importOn(day, leads.slice(place, place + 1));
  readOn([6]);
  expect(await Promise.all(leads.map(received))).toMatchObject([[onDay(6, true)], [onDay(6, false)], []]);
  readOn([99]);
  expect(await received(leads[2] ?? aLead())).toMatchObject([onDay(99, true)]);
});

test("a lead that was imported again existed before, even if a wrong clock dates its undo", async () => {
  const { importOn, undoOn, readOn, received } = aFile();
  const lead = aLead();
  await importOn(1, [lead]);
  readOn([2]);
  await undoOn(3650, 1);
  await importOn(6, [lead]);
  expect(await received(lead)).toMatchObject([onDay(2, true)]);
});

test("a lead imported again after an undo was possibly received before the undo", async () => {
  const { importOn, undoOn, readOn, received } = aFile();
  const lead = aLead();
  const since = aLead({ identified_at: new Date(on(5)).toISOString() });
  await importOn(0, [lead]);
  await undoOn(4, 1);
  await importOn(9, [lead, since]);
  readOn([1, 6]);
  expect(await received(lead)).toMatchObject([{ id: lead.id, ...onDay(1, true) }]);
  expect(await received(since)).toEqual([]);
});

test("a gap before an undo concerns a lead that is imported again, and one between the two does not", async () => {
  const { file, account, database, importOn, undoOn } = aFile();
  const lead = aLead();
  await importOn(0, [lead]);
  await undoOn(4, 1);
  await importOn(9, [lead]);
  // An undo takes less than a day.
  for (const day of [5, 7])
    database
      .insert(ledgerGaps)
      .values({ from: on(day), to: on(day), reason: "disk full" })
      .run();
  const [found] = await held(file, account, [{ kind: "id", value: lead.id }], on(99));
  expect(found?.gaps.map(({ from }) => Date.parse(from))).toEqual([on(5)]);
});

test("a page of a later import had each lead of an earlier one for certain, also a late one", async () => {
  const { importOn, readOn, received } = aFile();
  const late = aLead();
  const others = [aLead(), aLead()];
  await importOn(4, others.slice(0, 1));
  // The later one begins as this one ends.
  for (const leads of [[late], others.slice(1)]) await importOn(5, leads);
  readOn([5], 0, "", 2 * 3 + 1);
  expect(await received(late)).toMatchObject([onDay(5, false)]);
});

test.each([
  ["has ended", 2 * 2 + 1, false],
  ["still runs", 2 * 2, true],
])("a page of the day of an import that %s had a late lead of it", async (_, seen, possibly) => {
  const { file, account, importOn, readOn, received } = aFile();
  const [late, newer] = [aLead(), aLead()];
  await importOn(4, [newer]);
  let nowMs = on(5);
  await imported(file, account, [newLead(late)], { now: () => (nowMs += 1000) });
  readOn([5], 0, "", seen);
  expect(await received(late)).toMatchObject([onDay(5, possibly)]);
});

test("a lead imported again with a corrected time was possibly received before", async () => {
  const { importOn, undoOn, readOn, received } = aFile();
  const lead = aLead();
  await importOn(0, [lead]);
  readOn([0], Date.parse(lead.identified_at));
  await undoOn(0, 1);
  const mended = { ...lead, identified_at: "2025-01-31T09:15:00.000Z" };
  await importOn(0, [mended]);
  expect(await received(mended)).toMatchObject([onDay(0, true)]);
});

test("a lead removed by an interrupted undo was possibly received before", async () => {
  const { database, importOn, undoOn, readOn, received } = aFile();
  const lead = aLead();
  await importOn(0, [lead]);
  await undoOn(4, 1);
  // As it is until the last transaction of an undo.
  database.run("UPDATE imports SET undone_at = NULL, finished_at = NULL");
  await importOn(9, [lead]);
  readOn([1]);
  expect(await received(lead)).toMatchObject([onDay(1, true)]);
});

test("a lead imported again after an unblock was possibly received before", async () => {
  const { file, account, importOn, readOn, received } = aFile();
  const person = { kind: "email", value: "dana@example.com" } as const;
  const lead = aLead({ email: person.value, verified_email: null });
  const robin = { email: "robin@example.com", verified_email: null, identified_at: "2025-01-01T00:00:00.000Z" };
  const other = aLead(robin);
  await importOn(0, [lead]);
  await erase(file, account, [person], on(4));
  await importOn(5, [other]);
  expect(await liftBlocks(file, account, person, on(5) + 1)).toBe(1);
  await importOn(9, [lead]);
  readOn([1, 6]);
  expect(await received(lead)).toMatchObject([{ id: lead.id, ...onDay(1, true) }]);
  expect(await received(other)).toMatchObject([onDay(6, false)]);
});

test("a lead imported again after a retention ended was possibly received before", async () => {
  const { file, account, importOn, readOn, received } = aFile();
  const [lead, young] = [aLead({ identified_at: "2025-01-01T00:00:00.000Z" }), aLead()];
  await importOn(0, [lead]);
  await retain(file, account, 30, on(4));
  await retain(file, account, null, on(7));
  await importOn(9, [lead, young]);
  readOn([1]);
  expect(await received(lead)).toMatchObject([onDay(1, true)]);
  expect(await received(young)).toEqual([]);
});

test("a lead that one import wrote twice was possibly received between the two", async () => {
  const { importOn, readOn, received } = aFile();
  const lead = aLead({ state: "CA" });
  await importOn(0, [lead, { ...lead, state: "TX" }, { ...lead, state: "OR" }], "replace");
  readOn([0], 0, '{"state":"CA"}');
  expect(await received(lead)).toMatchObject([onDay(0, true)]);
});

test("a lead whose replacement a restore reverted was possibly received with the replaced values", async () => {
  const { database, importOn, readOn, received } = aFile();
  const lead = aLead({ state: "CA" });
  await importOn(1, [lead]);
  await importOn(2, [{ ...lead, state: "NY" }], "replace");
  readOn([3], 0, '{"state":"NY"}');
  // As a restore leaves it.
  database.run("UPDATE stored_leads SET doc = json_set(doc, '$.state', 'CA') WHERE state = 'NY'");
  database.run(`UPDATE imports SET undone_at = ${on(5)} WHERE number = 2`);
  expect(await received(lead)).toMatchObject([onDay(3, true)]);
});
