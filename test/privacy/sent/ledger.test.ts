/** The size of the ledger, and what happens to pages that cannot be written at once. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../../src/contract/calendar.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { blockSize, hasNumber, unpackBits } from "../../../src/privacy/sent/bits.ts";
import { createOutbox, partStatements } from "../../../src/privacy/sent/outbox.ts";
import { openServedStore } from "../../../src/server/store.ts";
import { noonMs } from "../../support/builders.ts";
import { aKey, anAccount, openTestDatabase } from "../../support/database.ts";
import { aFolder } from "../../support/folder.ts";

/** The ledger of a server on a file with one key. */
function aLedger() {
  const path = join(aFolder(), "leadfile.db");
  const file = openTestDatabase(path);
  aKey(file, anAccount(file));
  file.close();
  const database = openDatabase(path);
  const pages = createOutbox({ between: () => [] });
  const rows = () =>
    database.$client
      .query<{ day: string; block: number; bits: Uint8Array }, []>(
        "SELECT day, block, bits FROM sent ORDER BY day, block",
      )
      .all();
  return {
    path,
    database,
    pages,
    note: (numbers: readonly number[], nowMs = noonMs) =>
      pages.note(1, { numbers, newestMs: Math.max(...numbers) }, nowMs),
    write() {
      for (let part = pages.next(noonMs); part !== null; part = pages.next(noonMs)) {
        for (const statement of partStatements(database, part)) database.run(statement);
        pages.drop(part);
      }
    },
    rows,
    numbers: () =>
      rows().flatMap(({ block, bits }) => {
        const all = Array.from({ length: blockSize }, (_, place) => block * blockSize + place);
        return all.filter((number) => hasNumber(unpackBits(bits), number));
      }),
  };
}

const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, n) => from + n);

test("a sweep of 1,000,000 leads takes 4 KB a day, however often it is repeated", () => {
  const { note, write, database, rows } = aLedger();
  for (let sweep = 0; sweep < 2; sweep++) {
    for (let page = 0; page < 10_000; page++) note(upTo(100, 100 * page));
    write();
  }
  expect(rows()).toHaveLength(Math.ceil(1_000_000 / blockSize));
  const [[bytes] = []] = database.$client.query("SELECT sum(length(bits)) FROM sent").values();
  expect(bytes).toBeLessThan(4_096);
});

test("the ledger has each number of each page, beyond 32 bits too, and the newest timestamp", () => {
  const { note, write, numbers, database } = aLedger();
  const big = 2 ** 45 + 8_191;
  note([3, 5, 8_191, 8_192]);
  write();
  note([big, big + 1, 4]);
  write();
  expect(numbers()).toEqual([3, 4, 5, 8_191, 8_192, big, big + 1]);
  expect(database.$client.query("SELECT read_up_to FROM keys").values()).toEqual([[big + 1]]);
});

test("a key that was sent no lead has no read position, even if it is written together with another key", () => {
  const { path, pages, note, write, database } = aLedger();
  const file = openTestDatabase(path);
  aKey(file, anAccount(file));
  file.close();
  note([3]);
  pages.count(2, noonMs);
  write();
  expect(database.$client.query("SELECT read_up_to FROM keys ORDER BY number").values()).toEqual([[3], [null]]);
});

test("pages that could not be written are written with the later ones", () => {
  const { note, write, numbers, pages } = aLedger();
  note([1, 2]);
  expect(pages.next(noonMs)?.keys).toHaveLength(1);
  note([3]);
  write();
  expect(numbers()).toEqual([1, 2, 3]);
});

test("the pages that a busy server answers during a full disk stay in memory, and take little", () => {
  const { note, pages, write, numbers } = aLedger();
  for (let page = 0; page < 100_000; page++) note(upTo(25, page % 1_000));
  expect(pages.unwrittenSince()).toBe(noonMs);
  write();
  expect(numbers()).toEqual(upTo(1_024));
  expect(pages.unwrittenSince()).toBeNull();
});

test("days are kept for 400 days, and older ones are deleted daily unless the clock may be wrong", async () => {
  const { note, write, rows, path, database } = aLedger();
  for (const days of [0, 2, 402]) {
    note([1], noonMs + days * dayMs);
    write();
  }
  const use = (days: number) =>
    database.run(sql`INSERT INTO usage (key, day, requests) VALUES (1, ${dayOf(noonMs + days * dayMs)}, 1)`);
  for (let days = 0; days < 403; days += 20) if (days !== 200) use(days);
  const served = openServedStore(path);
  const daysLeft = async (nowMs: number) => {
    await served.applyRetention(nowMs);
    return rows().map((row) => (Date.parse(row.day) - Date.parse(dayOf(noonMs))) / dayMs);
  };
  expect(await daysLeft(noonMs + 401 * dayMs)).toEqual([0, 2, 402]);
  // Forty days without a request leave open whether the clock is right.
  expect(await daysLeft(noonMs + 402 * dayMs)).toEqual([0, 2, 402]);
  use(200);
  expect(await daysLeft(noonMs + 402 * dayMs)).toEqual([2, 402]);
  await served.close();
});
