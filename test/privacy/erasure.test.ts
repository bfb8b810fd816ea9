/** An erasure while an import runs, and one that is killed before it has removed the bytes. */

import { expect, onTestFinished, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eq, sql } from "drizzle-orm";
import type { Lead } from "../../src/contract/lead.ts";
import type { LeadDatabase } from "../../src/db/connection.ts";
import { listImports } from "../../src/db/imports.ts";
import { openConnection } from "../../src/db/open.ts";
import { leads } from "../../src/db/schema.ts";
import { bytesOf } from "../../src/db/uuid.ts";
import { emptyCounts } from "../../src/import/new-lead.ts";
import { beginImportRecord, writeImportRecord } from "../../src/import/write/import-record.ts";
import { Erasure } from "../../src/privacy/erase.ts";
import { listReceipts, readReceipt } from "../../src/privacy/receipts.ts";
import { importing, origin } from "../db/importing.ts";
import { aLead, newLead, noonMs, someLeads } from "../support/builders.ts";
import { watchDatabases } from "../support/closing.ts";
import { anAccount, documentsOf, importLeads, openTestDatabase } from "../support/database.ts";
import { aFolder, filesWith } from "../support/folder.ts";
import { erase as eraseAll } from "../support/privacy.ts";

const robin = { kind: "email", value: "robin@example.com" } as const;

function aFile() {
  const path = join(aFolder(), "leadfile.db");
  const database = openTestDatabase(path);
  onTestFinished(() => database.close());
  return { path, database, account: anAccount(database, { leads: someLeads(1500) }) };
}

/** An import of leads from before all others. */
function anImport({ database, account }: ReturnType<typeof aFile>, all: readonly Partial<Lead>[], now = () => noonMs) {
  const leads = all.map((over, n) => newLead(aLead({ identified_at: new Date(n + 1).toISOString(), ...over })));
  const merge = importing(database, account, leads, { now });
  onTestFinished(async () => void (await merge.return(undefined)));
  return merge;
}

/** Erases Robin, and tells how many leads were erased, and how many were read each time that it said so. */
async function erase(
  { database, account }: ReturnType<typeof aFile>,
  afterTheFirst: () => unknown = () => undefined,
  { withMentions = false, untilIt = 1 } = {},
) {
  const read: number[] = [];
  const onRead = (leads: number) => {
    if (read.push(leads) === untilIt) void afterTheFirst();
  };
  const erasure = new Erasure(database, account, [robin], { withMentions, onRead }, noonMs);
  for await (const _ of erasure.steps());
  const before = [...read];
  const erased = (await erasure.complete()).reduce((sum, person) => sum + person.erased, 0);
  // One receipt names what was removed in the first place, and what an import added.
  const receipts = [...listReceipts(database, account.number)].map(readReceipt);
  expect(receipts.map(({ removed }) => removed.length)).toEqual([erased]);
  const { mentioning, blocked } = erasure.findRemaining();
  return { erased, read: before, mentions: mentioning.length, blocked: blocked.length };
}

const mention = { page_url: `https://example.com/?e=${robin.value}` };

test.each([
  ["of the person is erased", { email: robin.value }, {}, { erased: 1, mentions: 0 }],
  [
    "that only mentions the person is erased with --mentions",
    mention,
    { withMentions: true },
    { erased: 1, mentions: 0 },
  ],
  ["that only mentions the person is reported without --mentions", mention, {}, { erased: 0, mentions: 1 }],
])("a lead that an import adds during the erasure %s", async (_, over, how, result) => {
  const there = aFile();
  const merge = anImport(there, [over]);
  expect(await erase(there, () => merge.next(), how)).toMatchObject(result);
});

test("reports a lead added during the erasure with another address of the person", async () => {
  const there = aFile();
  const other = "r.other@example.com";
  const own = newLead(aLead({ email: robin.value, verified_email: other }));
  importLeads(there.database, there.account.number, [own]);
  const merge = anImport(there, [{ email: other }]);
  expect(await erase(there, () => merge.next(), { untilIt: 2 })).toMatchObject({ erased: 1, blocked: 1 });
});

test("erases a lead that somebody changes at that moment as it is then", async () => {
  const there = aFile();
  const { database, account } = there;
  importLeads(database, account.number, [newLead(aLead({ email: robin.value, state: "CA" }))]);
  let changes = 0;
  /** Before the first write, somebody replaces the lead. */
  const write: LeadDatabase["write"] = async (statements) => {
    if (changes++ === 0) database.read.run(sql`UPDATE stored_leads SET doc = replace(doc, '"CA"', '"NV"')`);
    await database.write(statements);
  };
  expect(await erase({ ...there, database: { ...database, write } })).toMatchObject({ erased: 1, mentions: 0 });
  expect(documentsOf(database, account.number).filter((document) => document.includes(robin.value))).toEqual([]);
});

test("keeps a lead that replaced one that mentions the person", async () => {
  const there = aFile();
  const { database, account } = there;
  const at = { identified_at: new Date(noonMs - 1).toISOString() };
  const [gone, stranger] = [
    aLead({ ...at, page_url: `/?e=${robin.value}` }),
    aLead({ ...at, email: "lee@example.com", phone: null }),
  ];
  importLeads(database, account.number, [newLead(gone)]);
  const exchange = () => {
    database.read
      .delete(leads)
      .where(eq(leads.uuid, bytesOf(gone.id)))
      .run();
    importLeads(database, account.number, [newLead(stranger)]);
  };
  const reads = (await erase(there, undefined)).read.length;
  expect(await erase(there, exchange, { withMentions: true, untilIt: 2 * reads })).toMatchObject({ erased: 0 });
  const ids = documentsOf(database, account.number).map((document) => (JSON.parse(document) as Lead).id);
  expect(ids).toContain(stranger.id);
});

test("leads of an import that started before are erased", async () => {
  const there = aFile();
  const { database, account } = there;
  const writer = openConnection(there.path);
  onTestFinished(() => writer.$client.close());
  const batch = {
    ...beginImportRecord(account.number, origin, { counts: emptyCounts(), layout: null }),
    number: 1,
    oldestMs: 1,
    newestMs: 500,
  };
  const record = (imported: number) => {
    Object.assign(batch.counts, { read: imported, imported });
    writeImportRecord({ read: writer, run: (statement) => void writer.run(statement) }, batch, null);
  };
  record(500);
  const { erased } = await erase(there, () => {
    importLeads(database, account.number, [
      newLead(aLead({ email: robin.value, identified_at: new Date(501).toISOString() })),
    ]);
    record(501);
  });
  expect(erased).toBe(1);
});

test("reads the leads once if no import runs", async () => {
  const there = aFile();
  // Each transaction ends after 500 leads, as if somebody asked for the lock.
  const now = () => {
    appendFileSync(`${there.path}.asking`, ".");
    return noonMs;
  };
  const merge = anImport(there, [...Array<Partial<Lead>>(500).fill({}), { email: robin.value }], now);
  await merge.next();
  await merge.return(undefined);
  expect(listImports(there.database.read, there.account.number)).toMatchObject([{ imported: 500, finishedMs: null }]);
  expect(await erase(there)).toEqual({ erased: 0, read: [1000, 2000], mentions: 0, blocked: 0 });
});

const zefira = { kind: "email", value: "zefira@example.com" } as const;
const name = "Zefira Quoll";

/** Writes a text where the file has nothing, as a page keeps a stale copy that was split. */
function leaveStale(folder: string, text: string): void {
  const file = join(folder, "leadfile.db");
  const bytes = readFileSync(file);
  const nothing = bytes.indexOf(Buffer.alloc(400), 8192);
  expect(nothing).toBeGreaterThan(0);
  bytes.write(text, nothing + 200);
  writeFileSync(file, bytes);
}

/** A file from which Zefira was erased by somebody who was killed before the bytes were removed. */
async function afterKill() {
  const folder = aFolder();
  const closeDatabases = watchDatabases();
  const database = openTestDatabase(join(folder, "leadfile.db"));
  const account = anAccount(database, { leads: [...someLeads(50), aLead({ name, email: zefira.value })] });
  expect(await eraseAll(database, account, [zefira], noonMs)).toMatchObject([{ erased: 1 }]);
  closeDatabases();
  leaveStale(folder, name);
  const later = openTestDatabase(join(folder, "leadfile.db"));
  onTestFinished(() => later.close());
  return { folder, account, database: later };
}

test.each([zefira, robin])("the next erasure removes what a killed one left, of $value", async (next) => {
  const { folder, account, database } = await afterKill();
  expect(filesWith(folder, name)).not.toEqual([]);
  expect(await eraseAll(database, account, [next], noonMs)).toMatchObject([{ erased: 0 }]);
  expect(await database.removeResidualBytes()).toEqual([]);
  expect(filesWith(folder, name)).toEqual([]);
});
