/** The ledger of disclosures in the file: reads and writes what each key received on each day. */
import { and, asc, eq, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../../contract/time.ts";
import { type DisclosurePart, type DisclosureReader, keptDays, type Span } from "../../../store/disclosures.ts";
import type { Connection } from "../../connection.ts";
import { disclosures } from "../../schema.ts";

export function openDisclosureReader(database: Connection): DisclosureReader {
  const ofDay = database
    .select({ filter: disclosures.filter, oldestMs: disclosures.oldest, newestMs: disclosures.newest })
    .from(disclosures)
    .where(and(eq(disclosures.key, sql.placeholder("key")), eq(disclosures.day, sql.placeholder("day"))))
    .orderBy(asc(disclosures.filter), asc(disclosures.oldest))
    .prepare();
  return {
    of(key, day) {
      const filters = new Map<string, Span[]>();
      for (const { filter, ...span } of ofDay.all({ key, day })) {
        filters.getOrInsertComputed(filter, () => []).push(span);
      }
      return filters;
    },
  };
}

/** Removes and adds in one transaction: in between, a lead would seem to have no recipient. */
function writeDisclosures(database: Connection, part: DisclosurePart): void {
  const { removed, added } = part;
  if (removed.length === 0 && added.length === 0) return;
  if (removed.length === 0) {
    addSpans(database, part);
    return;
  }
  database.transaction(
    () => {
      removeSpans(database, part);
      addSpans(database, part);
    },
    { behavior: "immediate" },
  );
}

/** A span that another writer has made longer stays. The first condition lets SQLite use the key of the table. */
function removeSpans(database: Connection, { key, day, filter, removed }: DisclosurePart): void {
  const spans = pairs(removed);
  database.run(sql`
    DELETE FROM disclosures WHERE key = ${key} AND day = ${day} AND filter = ${filter}
      AND oldest IN (SELECT value ->> 0 FROM json_each(${spans}))
      AND (oldest, newest) IN (SELECT value ->> 0, value ->> 1 FROM json_each(${spans}))`);
}

function addSpans(database: Connection, { key, day, filter, added }: DisclosurePart): void {
  database.run(sql`
    INSERT INTO disclosures (key, day, filter, oldest, newest)
    SELECT ${key}, ${day}, ${filter}, value ->> 0, value ->> 1 FROM json_each(${pairs(added)}) WHERE TRUE
    ON CONFLICT DO UPDATE SET newest = max(newest, excluded.newest)`);
}

function pairs(spans: readonly Span[]): string {
  return JSON.stringify(spans.map(({ oldestMs, newestMs }) => [oldestMs, newestMs]));
}

/** Deletes what is older than is kept. */
function forgetOldDisclosures(database: Connection, today: string): void {
  const firstKept = dayOf(Date.parse(today) - keptDays * dayMs);
  database.run(sql`DELETE FROM disclosures WHERE key IN (SELECT number FROM keys) AND day < ${firstKept}`);
}

/** Writes parts of the ledger. When a new day begins it deletes what is too old. */
export function openDisclosureWriter(database: Connection): (part: DisclosurePart) => void {
  let forgottenOn = "";
  return (part) => {
    if (part.day !== forgottenOn) forgetOldDisclosures(database, part.day);
    forgottenOn = part.day;
    writeDisclosures(database, part);
  };
}
