/** The stored leads and the pixels of an account, as an import finds and writes them. Each statement is prepared once. */
import type { AccountNumber } from "../../db/accounts.ts";
import type { Connection } from "../../db/connection.ts";
import { insertPixel, pixelOfAccount } from "../../db/pixels.ts";
import { pixels } from "../../db/schema.ts";
import { bytesOf } from "../../db/uuid.ts";
import type { NewLead } from "../new-lead.ts";

/** The place of a stored lead. */
export interface StoredPlace {
  /** Its time, in Unix milliseconds. */
  readonly at: number;
  /** The number of the import that added it. */
  readonly batch: number;
  /** The number of its pixel. */
  readonly pixel: number;
}

/** The place at which a lead is to be stored, with its document. */
export interface Placed extends StoredPlace {
  readonly doc: string;
}

export type StoredLeads = ReturnType<typeof openStoredLeads>;

type Value = Buffer | string | number | null;

/**
 * Prepares the statements on the stored leads of an account, without Drizzle, whose named values cost a tenth of an insert.
 * SQLite would prepare a statement again for each bare parameter next to `=` (placeholder.ts).
 */
export function openStoredLeads({ $client: client }: Connection, account: AccountNumber) {
  const ofAccount = "account = CAST(? AS INTEGER)";
  const places = `SELECT identified_at AS at, import AS batch, pixel FROM stored_leads WHERE ${ofAccount}`;
  const newest = client.query<StoredPlace, [number]>(`${places} ORDER BY identified_at DESC LIMIT 1`);
  const found = client.query<StoredPlace, [number, Buffer]>(`${places} AND uuid = CAST(? AS BLOB)`);
  const insert = client.query<unknown, Value[]>(`
    INSERT INTO stored_leads (account, identified_at, uuid, import, pixel, state, city_key, has_email, doc)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const replace = client.query<unknown, Value[]>(`
    UPDATE stored_leads SET pixel = ?, state = ?, city_key = ?, has_email = ?, doc = ?
    WHERE ${ofAccount} AND identified_at = CAST(? AS INTEGER)`);
  const firstFree = client.query<{ readonly ms: number }, [number, number]>(`
    SELECT identified_at + 1 AS ms FROM stored_leads AS taken
    WHERE ${ofAccount} AND identified_at >= CAST(? AS INTEGER) AND NOT EXISTS (
      SELECT 1 FROM stored_leads AS follower
      WHERE follower.account = taken.account AND follower.identified_at = taken.identified_at + 1
    )
    ORDER BY identified_at LIMIT 1`);

  return {
    /** Returns false if the millisecond or the ID is taken. */
    insert({ id, state, cityKey, hasEmail }: NewLead, { batch, pixel, at, doc }: Placed): boolean {
      const { changes } = insert.run(account, at, bytesOf(id), batch, pixel, state, cityKey, Number(hasEmail), doc);
      return changes > 0;
    },
    /** Gives a stored lead another content. Its time stays. */
    replace({ state, cityKey, hasEmail }: NewLead, { pixel, at, doc }: Placed): void {
      replace.run(pixel, state, cityKey, Number(hasEmail), doc, account, at);
    },
    /** The newest lead of the account. */
    newest: (): StoredPlace | null => newest.get(account),
    /** The lead with an ID. */
    find: (id: string): StoredPlace | null => found.get(account, bytesOf(id)),
    /** The first free millisecond after one that is taken. */
    firstFree: (ms: number): number => firstFree.get(account, ms)?.ms ?? ms + 1,
  };
}

/** The limit of pixels in memory. A file may name another one in each row. */
const maxKnown = 10_000;

/** Finds and creates the pixels of an account by their IDs, for one transaction. */
export function openPixelNumbers(database: Connection, account: AccountNumber) {
  const one = database.select({ number: pixels.number }).from(pixels).where(pixelOfAccount).prepare();
  const known = new Map<string, number>();

  /** Returns the number of a pixel; null if the account has none of this ID. */
  function find(id: string): number | null {
    const number = known.get(id) ?? one.values({ account, pixelId: id })[0]?.[0] ?? null;
    if (number !== null && known.size < maxKnown) known.set(id, number);
    return number;
  }

  return {
    find,
    /** Creates a pixel and returns its number. */
    make(id: string, nowMs: number): number {
      const made = insertPixel(database, account, { id, status: "active" }, nowMs);
      return made.returning({ number: pixels.number }).get().number;
    },
  };
}
