/** The size of the ledger: one row a day for a client that polls, a hundred filters a key and day, 400 days. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../../src/contract/calendar.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { planPart, writeDisclosures } from "../../../src/privacy/disclosures/ledger.ts";
import { createPendingPages } from "../../../src/privacy/disclosures/pending-pages.ts";
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
  const ledger = createPendingPages((pages) => planPart(database, pages));
  return {
    path,
    note: (filter: string, oldestMs: number, newestMs: number, nowMs = noonMs) =>
      ledger.note(1, { filter, oldestMs, newestMs, beforeMs: null, seen: 1 }, nowMs),
    ledger,
    database,
    write() {
      for (let part = ledger.next(); part !== null; part = ledger.next()) {
        writeDisclosures(database, part);
        ledger.drop();
      }
    },
    rows: () =>
      database.$client
        .query<{ day: string; filter: string; oldest: number; newest: number }, []>(
          "SELECT day, filter, oldest, newest FROM disclosures ORDER BY day, filter, oldest",
        )
        .all(),
  };
}

const day = dayOf(noonMs);

test("a client that polls each half minute adds one row a day", () => {
  const { note, write, rows } = aLedger();
  for (let minute = 0; minute < 600; minute++) {
    note("", noonMs - dayMs + minute * 60_000, noonMs + minute * 60_000, noonMs + minute * 60_000);
    if (minute % 7 === 0) write();
  }
  write();
  expect(rows()).toEqual([{ day, filter: "", oldest: noonMs - dayMs, newest: noonMs + 599 * 60_000 }]);
});

test("beyond 100 filters per key and day, pages are recorded without filter, also after a restart", () => {
  const { note, write, rows } = aLedger();
  for (let city = 0; city < 150; city++) note(JSON.stringify({ city: `city ${city}` }), 1000 * city, 1000 * city + 9);
  write();
  const kept = rows();
  expect(kept.filter(({ filter }) => filter !== "")).toHaveLength(100);
  expect(kept.filter(({ filter }) => filter === "").map(({ oldest }) => oldest)).toEqual(
    Array.from({ length: 50 }, (_, n) => 1000 * (100 + n)),
  );
});

test("pages that could not be written are written with the later ones", () => {
  const { note, write, rows, ledger } = aLedger();
  note("", 100, 200);
  expect(ledger.next()?.added).toEqual([{ oldestMs: 100, newestMs: 200, seen: 1 }]);
  note("", 150, 300);
  write();
  expect(rows()).toEqual([{ day, filter: "", oldest: 100, newest: 300 }]);
});

test("the pages that a busy server answers during a full disk stay in memory", () => {
  const { note, ledger } = aLedger();
  const answered = 100_000;
  for (let page = 0; page < answered; page++) note("", 100 * page, 100 * page + 9);
  let waiting = 0;
  for (let part = ledger.next(); part !== null; part = ledger.next()) {
    waiting += part.added.length;
    ledger.drop();
  }
  expect(waiting).toBe(answered);
});

test("pages are kept for 400 days, and older ones are deleted daily unless the clock may be wrong", async () => {
  const { note, write, rows, path } = aLedger();
  for (const days of [0, 2, 402]) {
    note("", 100 + days, 100 + days, noonMs + days * dayMs);
    write();
  }
  const served = openServedStore(path);
  const daysLeft = async (nowMs: number) => {
    await served.applyRetention(nowMs, false);
    return rows().map((row) => (Date.parse(row.day) - Date.parse(day)) / dayMs);
  };
  expect(await daysLeft(noonMs + 401 * dayMs)).toEqual([0, 2, 402]);
  expect(await daysLeft(noonMs + 402 * dayMs)).toEqual([2, 402]);
  served.close();
});

test("a client that polls from just after the newest lead adds one row a day, whatever is imported in between", () => {
  const { ledger, write, rows, database } = aLedger();
  const polls = 300;
  for (let minute = 0; minute < polls; minute++) {
    const nowMs = Date.parse(day) + minute * 60_000;
    database.run(sql`INSERT INTO imports (number, account, at, finished_at, file, "by", read, imported, duplicates,
      replaced, moved, late, suppressed, rejected, oldest, newest) VALUES (${minute + 1}, 1, ${nowMs}, ${nowMs}, '-', '', 1, 1,
      0, 0, 0, 0, 0, 0, ${nowMs}, ${nowMs})`);
    const page = { filter: "", oldestMs: nowMs - 60_000 + 1, newestMs: nowMs, beforeMs: null, seen: 2 * minute + 3 };
    ledger.note(1, page, nowMs);
    write();
  }
  expect(rows()).toHaveLength(1);
});
