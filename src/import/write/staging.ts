/**
 * Where a file is put aside while it is read: temporary tables of a connection, in a file that has no name from the moment
 * it is open. So nothing of it is left, however the process ends.
 */
import { type Database, SQLiteError } from "bun:sqlite";
import { withHyphens } from "../../db/uuid.ts";
import { StoreError } from "../../store/errors.ts";
import type { NewLead, Preview, RejectedRow } from "../../store/imports.ts";

/** What some leads are that follow one another in the order in which they go in. */
export interface Summary extends Omit<Preview, "sharingIds" | "changedVisits" | "cutVisits"> {
  /** How many have another time than their source says. */
  readonly moved: number;
}

export interface Staging {
  add(lead: NewLead): void;
  reject(row: RejectedRow): void;
  rejectedRows(): Iterable<RejectedRow>;
  /** To be called when all is put aside, before what follows here. */
  sort(): void;
  preview(newestStoredMs: number | null, mayShareIds: boolean): Omit<Preview, "changedVisits" | "cutVisits">;
  /** A summary of at most `most` leads, from the place `from` on. */
  summarize(from: number, most: number, newestStoredMs: number | null): Summary;
  /**
   * At most `most` leads from the place `from` on, in the order in which they go in: oldest first, those without a time at
   * the end. Each is read when it is asked for: a thousand large ones would fill the memory.
   */
  read(from: number, most: number): Iterable<NewLead>;
}

/**
 * Over a connection that nobody else uses, in a folder on the disk of the database: what is held on people stays there.
 * Throws a StoreError where the folder takes no more, as everything does here until the leads are read.
 */
export function openStaging(client: Database, folder: string): Staging {
  const inFolder = namingFolder(folder);
  const { add, reject, sort, preview, ...reading } = inFolder(openTables)(client, folder);
  return { add: inFolder(add), reject: inFolder(reject), sort: inFolder(sort), preview: inFolder(preview), ...reading };
}

/** Makes of what SQLite says of a folder a StoreError that names it. */
function namingFolder(folder: string) {
  return <Given extends unknown[], Result>(work: (...given: Given) => Result) =>
    (...given: Given): Result => {
      try {
        return work(...given);
      } catch (cause) {
        if (!(cause instanceof SQLiteError)) throw cause;
        throw new StoreError({ kind: "nothing put aside", folder, reason: cause.message }, { cause });
      }
    };
}

function openTables(client: Database, folder: string): Staging {
  createTables(client, folder);
  // Queries are closed with the client; a statement that is still open would keep the file.
  const add = client.query<unknown, (string | number | null)[]>(
    "INSERT INTO staged VALUES (NULL, ?, unhex(?, '-'), ?, ?, ?, ?, ?, ?, ?)",
  );
  const reject = client.query<unknown, [number, string, string]>("INSERT INTO rejected VALUES (NULL, ?, ?, ?)");
  const summarize = openSummary(client);
  client.run("BEGIN");
  let isSorted = false;
  return {
    add({ id, pixelId, state, cityKey, hasEmail, identifiedMs, clamped, aliases, document }) {
      add.run(
        identifiedMs,
        id,
        pixelId,
        state,
        cityKey,
        Number(hasEmail),
        Number(clamped),
        writeAliases(aliases),
        document,
      );
    },
    reject: ({ line, reason, source }) => void reject.run(line, reason, JSON.stringify(source)),
    *rejectedRows() {
      const all = client.query<Omit<RejectedRow, "source"> & { source: string }, []>(
        "SELECT line, reason, source FROM rejected ORDER BY place",
      );
      for (const row of all.iterate()) yield { ...row, source: JSON.parse(row.source) };
    },
    sort() {
      if (isSorted) return;
      isSorted = true;
      client.run("COMMIT");
      // The places alone are sorted: the leads stay where they are.
      client.run(
        "INSERT INTO in_order (lead, at, clamped) SELECT place, at, clamped FROM staged ORDER BY at IS NULL, at, place",
      );
    },
    preview(newestStoredMs, mayShareIds) {
      const { moved, ...all } = summarize(0, Number.MAX_SAFE_INTEGER, newestStoredMs);
      return { ...all, sharingIds: mayShareIds ? countSharingIds(client) : 0 };
    },
    summarize,
    read: openReading(client),
  };
}

function createTables(client: Database, folder: string): void {
  client.run(`PRAGMA temp_store_directory = '${folder.replaceAll("'", "''")}'`);
  client.run("PRAGMA temp_store = FILE");
  client.run("PRAGMA temp.page_size = 8192");
  client.run("PRAGMA temp.cache_size = -4096");
  client.run(`
    CREATE TEMP TABLE staged (
      place INTEGER PRIMARY KEY, at INTEGER, uuid BLOB, pixel TEXT, state TEXT, city_key TEXT, has_email INTEGER,
      clamped INTEGER, aliases TEXT, document TEXT
    )`);
  client.run("CREATE TEMP TABLE rejected (place INTEGER PRIMARY KEY, line INTEGER, reason TEXT, source TEXT)");
  client.run("CREATE TEMP TABLE in_order (place INTEGER PRIMARY KEY, lead INTEGER, at INTEGER, clamped INTEGER)");
}

function openSummary(client: Database): Staging["summarize"] {
  const summary = client.query<Summary, [number | null, number, number]>(`
    SELECT count(*) AS leads, count(*) - count(at) AS untimed, total(clamped) AS moved, min(at) AS oldestMs,
      max(at) AS newestMs, count(CASE WHEN at < ? THEN 1 END) AS older
    FROM in_order WHERE place > ? AND place <= ?`);
  return (from, most, newestStoredMs) => {
    const found = summary.get(newestStoredMs, from, from + most);
    if (found === null) throw new Error("a count of rows gave none");
    return found;
  };
}

/** How many leads have the id of another one, but another time or page: perhaps it names the person and not the visit. */
function countSharingIds(client: Database): number {
  client.run("CREATE TEMP TABLE shared AS SELECT uuid FROM staged GROUP BY uuid HAVING count(*) > 1");
  if (client.query("SELECT 1 FROM shared LIMIT 1").get() === null) return 0;
  const found = client
    .query<{ leads: number }, []>(`
      SELECT total(leads) AS leads FROM (
        SELECT count(*) AS leads FROM staged WHERE uuid IN (SELECT uuid FROM shared) GROUP BY uuid
        HAVING count(DISTINCT ifnull(at, 0)) > 1 OR count(DISTINCT ifnull(document ->> '$.page_url', '')) > 1
      )`)
    .get();
  return found?.leads ?? 0;
}

/** Yes and no are 1 and 0 in a table. */
type Row = Omit<NewLead, "hasEmail" | "clamped" | "aliases"> & {
  readonly hasEmail: number;
  readonly clamped: number;
  readonly aliases: string | null;
};

/** Most leads have none. */
const writeAliases = (aliases: NewLead["aliases"]) => (aliases.length === 0 ? null : JSON.stringify(aliases));
const readAliases = (text: string | null): NewLead["aliases"] => (text === null ? [] : JSON.parse(text));

function openReading(client: Database): Staging["read"] {
  const some = client.query<Row, [number, number]>(`
    SELECT staged.at AS identifiedMs, hex(uuid) AS id, pixel AS pixelId, state, city_key AS cityKey, has_email AS hasEmail,
      staged.clamped, aliases, document
    FROM in_order JOIN staged ON staged.place = in_order.lead
    WHERE in_order.place > ? ORDER BY in_order.place LIMIT ?`);
  return function* (from, most) {
    for (const row of some.iterate(from, most)) {
      yield {
        ...row,
        id: withHyphens(row.id),
        hasEmail: row.hasEmail === 1,
        clamped: row.clamped === 1,
        aliases: readAliases(row.aliases),
      };
    }
  };
}
