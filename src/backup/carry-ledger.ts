/** Carries the ledger of what was sent over a restore: the rows of the replaced file, its gaps, and the numbers of leads that are lost. */
import { sql } from "drizzle-orm";
import { type Connection, changedRows } from "../db/connection.ts";
import { addBits, packBits, unpackBits } from "../privacy/sent/bits.ts";
import { openMayHaveBeenSent } from "../privacy/sent/former-numbers.ts";
import { recordedWithinMs } from "../privacy/sent/ledger.ts";

/** Carries the ledger of `old` over to `main`, and returns the number of its rows that changed. */
export function carryLedger(database: Connection): number {
  carryGaps(database);
  database.run(sql`
    UPDATE main.keys SET read_up_to = replaced.read_up_to FROM old.keys AS replaced
    WHERE replaced.digest = main.keys.digest AND replaced.read_up_to > ifnull(main.keys.read_up_to, ${Number.MIN_SAFE_INTEGER})`);
  return mergeBits(database) + addMissing(database);
}

/** A gap that lasted at the backup may have ended since. */
function carryGaps(database: Connection): void {
  database.run(sql`
    UPDATE main.ledger_gaps SET ends_at = gap.ends_at FROM old.ledger_gaps AS gap
    WHERE gap.node = main.ledger_gaps.node AND gap.begins_at = main.ledger_gaps.begins_at
      AND gap.reason = main.ledger_gaps.reason AND main.ledger_gaps.ends_at IS NULL`);
  database.run(sql`
    INSERT INTO main.ledger_gaps (node, begins_at, ends_at, reason)
    SELECT node, begins_at, ends_at, reason FROM old.ledger_gaps AS gap WHERE NOT EXISTS (
      SELECT 1 FROM main.ledger_gaps AS known
      WHERE known.node = gap.node AND known.begins_at = gap.begins_at AND known.reason = gap.reason)
    ORDER BY number`);
}

/**
 * Remembers the leads that the replaced file has, or had, and the backup does not, and returns their number: imported again, they
 * keep their recipients.
 */
export function rememberLostLeads(database: Connection, nowMs: number): number {
  const mayHaveBeenSent = openMayHaveBeenSent(database, nowMs, "old");
  const lost = (table: string) =>
    database.$client.query<{ number: number; theirs: number; ours: number; uuid: Uint8Array; ms: number }, []>(`
      SELECT gone.number, gone.account AS theirs, account.number AS ours, gone.uuid, gone.identified_at AS ms
      FROM old.${table} AS gone JOIN old.accounts AS old_account ON old_account.number = gone.account
      JOIN main.accounts AS account ON account.id = old_account.id
      WHERE gone.number NOT IN (SELECT number FROM main.stored_leads)`);
  const remember = database.$client.query<unknown, [number, number, Uint8Array, number]>(
    "INSERT OR IGNORE INTO main.former_numbers (number, account, uuid, identified_at) VALUES (?, ?, ?, ?)",
  );
  let count = 0;
  for (const table of ["stored_leads", "former_numbers"]) {
    for (const { number, theirs, ours, uuid, ms } of lost(table).iterate()) {
      if (mayHaveBeenSent({ number, account: theirs, ms })) count += remember.run(number, ours, uuid, ms).changes;
    }
  }
  return count;
}

const joined = `
  FROM old.sent AS row JOIN old.keys AS replaced ON replaced.number = row.key
  JOIN main.keys AS key ON key.digest = replaced.digest`;
const sameRow = "known.key = key.number AND known.day = row.day AND known.block = row.block AND known.node = row.node";

/** Adds the bits of rows that both files have. Either of them may know what the other does not. */
function mergeBits(database: Connection): number {
  const both = database.$client.query<
    { key: number; day: string; block: number; node: string; theirs: Uint8Array; ours: Uint8Array },
    []
  >(`
    SELECT key.number AS key, row.day, row.block, row.node, row.bits AS theirs, known.bits AS ours
    ${joined} JOIN main.sent AS known ON ${sameRow} WHERE known.bits <> row.bits`);
  const set = database.$client.query<unknown, [Uint8Array, number, string, number, string]>(
    "UPDATE main.sent SET bits = ? WHERE key = ? AND day = ? AND block = ? AND node = ?",
  );
  let changed = 0;
  for (const { key, day, block, node, theirs, ours } of both.all()) {
    const bits = unpackBits(ours);
    if (!addBits(bits, unpackBits(theirs))) continue;
    set.run(packBits(bits), key, day, block, node);
    changed++;
  }
  return changed;
}

function addMissing(database: Connection): number {
  database.run(
    sql.raw(`INSERT OR IGNORE INTO main.sent (key, day, block, node, bits)
      SELECT key.number, row.day, row.block, row.node, row.bits ${joined}`),
  );
  return changedRows(database);
}

/** A restore skips at least this many numbers, and at most as many more as `maxRandom`. */
const minSkipped = 2 ** 32;
const maxRandom = 2 ** 40;

/**
 * Skips numbers that the replaced file, or the same backup restored elsewhere, may have given to other leads. Random, because
 * each of several restores of one backup must skip to its own numbers.
 */
export function skipNumbers(database: Connection): void {
  const skipped = minSkipped + Math.floor(Math.random() * maxRandom);
  database.run(sql`
    UPDATE main.lead_numbers SET last = ${skipped} + max(last, ifnull((SELECT max(number) FROM main.stored_leads), 0))`);
}

/**
 * Ends what lasted at the backup and is over now. Returns the time since when a page may have been sent that the backup does
 * not know: its server had not written the last ones.
 */
export function endGapsOfBackup(database: Connection, madeMs: number, nowMs: number): number {
  const wasServed =
    database.values(sql`SELECT 1 FROM main.ledger_gaps WHERE reason = 'stop' AND ends_at IS NULL`).length > 0;
  database.run(sql`DELETE FROM main.ledger_gaps WHERE reason = 'stop' AND ends_at IS NULL`);
  database.run(sql`
    UPDATE main.ledger_gaps SET ends_at = max(begins_at, ${nowMs}) WHERE ends_at IS NULL AND node <> ''`);
  return wasServed ? madeMs - recordedWithinMs : madeMs;
}
