/**
 * Stages a file while it is read: temporary tables of one connection, in a file that has no name from the moment it is
 * open. Nothing of it is left, however the process ends.
 */
import { type Database, SQLiteError } from "bun:sqlite";
import type { Lead } from "../../contract/lead.ts";
import { withHyphens } from "../../db/uuid.ts";
import { asServed } from "../map/lead.ts";
import { ImportInterrupted, type NewLead } from "../new-lead.ts";
import type { RejectedRow } from "../row.ts";

/** A summary of staged leads that follow one another in time order. */
export interface Summary {
  readonly leads: number;
  /** The number of leads without a time. */
  readonly untimed: number;
  /** The number of leads whose time is not the one their source says. */
  readonly moved: number;
  /** The times of the oldest and the newest of the other leads; null if there are none. */
  readonly oldestMs: number | null;
  readonly newestMs: number | null;
  /** The number of leads older than a given time. */
  readonly older: number;
}

/** The staged leads and rejected rows of one import. */
export type Staging = ReturnType<typeof openTables>;

/**
 * Opens the staging tables on a connection that nobody else uses, in a folder on the disk of the database: personal data
 * stays on that disk. Every method that writes throws a UserError if the folder has no room.
 */
export function openStaging(client: Database, folder: string): Staging {
  function inFolder<Given extends unknown[], Result>(work: (...given: Given) => Result): typeof work {
    return (...given) => {
      try {
        return work(...given);
      } catch (cause) {
        if (!(cause instanceof SQLiteError)) throw cause;
        throw new ImportInterrupted(
          `The folder ${folder} has too little space to stage the file (${cause.message}). Nothing was imported.`,
          "Free about five times the size of the unpacked file, then run the import again.",
          cause,
        );
      }
    };
  }
  const { add, reject, sort, ...others } = inFolder(openTables)(client, folder);
  return { ...others, add: inFolder(add), reject: inFolder(reject), sort: inFolder(sort) };
}

/** SQLite stores booleans as 0 and 1. */
type Row = Omit<NewLead, "hasEmail" | "clamped" | "aliases" | "origin"> & {
  readonly hasEmail: number;
  readonly clamped: number;
  readonly aliases: string | null;
};

const columns = `at AS identifiedMs, hex(uuid) AS id, pixel AS pixelId, state, city_key AS cityKey, has_email AS hasEmail,
  clamped, aliases, vendor_id AS vendorId, document, arrived AS arrivedMs`;

function leadOf(row: Row): NewLead {
  return {
    ...row,
    origin: null,
    id: withHyphens(row.id),
    hasEmail: row.hasEmail === 1,
    clamped: row.clamped === 1,
    aliases: row.aliases === null ? [] : JSON.parse(row.aliases), // As `add` wrote them.
  };
}

function openTables(client: Database, folder: string) {
  createTables(client, folder);
  // Queries are closed with the client; a statement that is still open would keep the file. Drizzle's prepared insert
  // would cost a tenth of an import.
  const add = client.query<unknown, (string | number | Uint16Array | null)[]>(
    "INSERT INTO staged VALUES (NULL, ?, unhex(?, '-'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const reject = client.query<unknown, [number, string, string]>("INSERT INTO rejected VALUES (NULL, ?, ?, ?)");
  const summary = client.query<Summary, [number | null, number, number]>(`
    SELECT count(*) AS leads, count(*) - count(at) AS untimed, total(clamped) AS moved, min(at) AS oldestMs,
      max(at) AS newestMs, count(CASE WHEN at < ? THEN 1 END) AS older
    FROM in_order WHERE position > ? AND position <= ?`);
  const some = client.query<Row, [number, number]>(`
    SELECT ${columns} FROM (SELECT position AS rank, lead FROM in_order WHERE position > ? ORDER BY position LIMIT ?)
      CROSS JOIN staged ON staged.position = lead ORDER BY rank`);
  const rejected = client.query<Omit<RejectedRow, "source"> & { source: string }, []>(
    "SELECT line, reason, source FROM rejected ORDER BY position",
  );
  client.run("BEGIN");
  let isSorted = false;
  return {
    add(lead: NewLead): void {
      const { id, pixelId, state, cityKey, hasEmail, identifiedMs, clamped, aliases, vendorId, document } = lead;
      // Most leads have no aliases.
      const others = aliases.length === 0 ? null : JSON.stringify(aliases);
      const flags = [Number(hasEmail), Number(clamped)] as const;
      const { arrivedMs = null, origin } = lead;
      add.run(identifiedMs, id, pixelId, state, cityKey, ...flags, others, vendorId, document, arrivedMs, origin);
    },
    reject: ({ line, reason, source }: RejectedRow) => void reject.run(line, reason, JSON.stringify(source)),
    *rejectedRows(): Iterable<RejectedRow> {
      for (const row of rejected.iterate()) yield { ...row, source: JSON.parse(row.source) }; // As `reject` wrote it.
    },
    sample: (nowMs: number) => readSample(client, nowMs),
    /** Sorts the leads by time. Must be called after the last `add`, before `summarize` and `read`. */
    sort(): void {
      if (isSorted) return;
      isSorted = true;
      client.run("COMMIT");
      // Only the positions are sorted: the leads stay where they are.
      client.run(
        "INSERT INTO in_order (lead, at, clamped) SELECT position, at, clamped FROM staged ORDER BY at IS NULL, at, position",
      );
    },
    /** Returns the summary of at most `max` leads after a position in time order. */
    summarize(from: number, max: number, olderThanMs: number | null): Summary {
      const found = summary.get(olderThanMs, from, from + max);
      if (found === null) throw new Error("a count of rows gave no row");
      return found;
    },
    /**
     * Returns at most `max` leads after a position in time order, those without a time last. Each is read when it is asked for:
     * a thousand large ones would fill the memory.
     */
    *read(from: number, max: number): Iterable<NewLead> {
      for (const row of some.iterate(from, max)) yield leadOf(row);
    },
  };
}

/** A lead as it would be served, and the columns from which its fields came. */
export interface SampledLead {
  readonly lead: Lead;
  readonly origin: Iterable<number>;
}

/** Returns the first, middle, and last lead in the order of the file. */
function readSample(client: Database, nowMs: number): SampledLead[] {
  const chosen = client.query<Pick<NewLead, "identifiedMs" | "document"> & { readonly origin: Uint8Array | null }, []>(`
    WITH last AS (SELECT max(position) AS position FROM staged)
    SELECT at AS identifiedMs, document, origin FROM staged, last
    WHERE staged.position IN (1, (last.position + 1) / 2, last.position) ORDER BY staged.position`);
  return chosen.all().map(({ origin, ...staged }) => ({
    lead: asServed(staged, nowMs),
    origin: new Uint16Array(Uint8Array.from(origin ?? []).buffer),
  }));
}

function createTables(client: Database, folder: string): void {
  client.run(`PRAGMA temp_store_directory = '${folder.replaceAll("'", "''")}'`);
  client.run("PRAGMA temp_store = FILE");
  client.run("PRAGMA temp.page_size = 8192");
  client.run("PRAGMA temp.cache_size = -4096");
  client.run(`
    CREATE TEMP TABLE staged (
      position INTEGER PRIMARY KEY, at INTEGER, uuid BLOB, pixel TEXT, state TEXT, city_key TEXT, has_email INTEGER,
      clamped INTEGER, aliases TEXT, vendor_id TEXT, document TEXT, arrived INTEGER, origin BLOB
    )`);
  client.run("CREATE TEMP TABLE rejected (position INTEGER PRIMARY KEY, line INTEGER, reason TEXT, source TEXT)");
  client.run("CREATE TEMP TABLE in_order (position INTEGER PRIMARY KEY, lead INTEGER, at INTEGER, clamped INTEGER)");
}
