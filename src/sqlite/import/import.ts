/** An import: all of a file is put aside, and then merged. And a few leads at once, without a file. */
import { dirname } from "node:path";
import { sql } from "drizzle-orm";
import { StoreError } from "../../store/errors.ts";
import type { ImportOptions, ImportOrigin, LeadImport, StagedImport } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Account } from "../../store/repositories.ts";
import type { Connection } from "../connection.ts";
import { underlying } from "../failure.ts";
import { openForImport } from "../open.ts";
import { openPixels } from "../pixels.ts";
import { ofPosition } from "../position.ts";
import { openMerge } from "./merge.ts";
import { openPlacer } from "./place.ts";
import { openStaging } from "./staging.ts";
import { prepareImport } from "./statements.ts";
import { openStretches } from "./stretches.ts";

/** Begins an import into the file that a connection has open; it is written to by a connection of its own. */
export function beginStagedImport(
  database: Connection,
  account: Account,
  options: ImportOptions,
  origin: ImportOrigin,
): StagedImport {
  const path = database.$client.filename;
  const { writer, staging } = openAside(path);
  const stored = prepareImport(database, account.number);
  const pixels = openPixels(database);
  let batch: number | null = null;
  return {
    add: staging.add,
    reject: staging.reject,
    isStored: (id) => stored.momentOf(id) !== null,
    hasPixel: (id) => pixels.has(account.number, id),
    outlook(mayShareIds) {
      staging.sort();
      return staging.outlook(stored.newest(), mayShareIds);
    },
    rejectedRows: staging.rejectedRows,
    async *merge(before, now) {
      try {
        if (options.dryRun) shadowTables(writer, account.number);
        const stretches = openStretches(writer, account.number, options.dryRun);
        const merge = openMerge(writer, account.number, { options, origin, staging, stretches });
        for await (const progress of merge.run(before, now)) {
          batch = merge.batch();
          yield progress;
        }
      } catch (cause) {
        throw cutShort(cause);
      }
    },
    batch: () => batch,
    close: () => writer.$client.close(),
  };
}

/** What is put aside lies on the connection that writes, so that it can go from the one to the other within SQLite. */
function openAside(path: string) {
  const writer = openForImport(path);
  try {
    return { writer, staging: openStaging(writer.$client, dirname(path)) };
  } catch (cause) {
    writer.$client.close();
    throw cause;
  }
}

function cutShort(failure: unknown): unknown {
  if (failure instanceof StoreError) return failure;
  const cause = underlying(failure);
  return new StoreError(
    { kind: "import cut short", reason: cause instanceof Error ? cause.message : "unknown" },
    { cause },
  );
}

/** Begins to write leads as they come, which belong to no batch. */
export function beginImport(database: Connection, account: AccountNumber, options: ImportOptions): LeadImport {
  if (options.dryRun) shadowTables(database, account);
  const placer = openPlacer(database, account, options);
  return {
    write(leads, nowMs) {
      const work = () => {
        placer.begin({ batch: 0, nowMs, stampMs: nowMs });
        return leads.map(placer.write);
      };
      // A dry run writes only to its shadow tables, and must not keep anybody from writing.
      return database.transaction(work, { behavior: options.dryRun ? "deferred" : "immediate" });
    },
  };
}

/**
 * Puts temporary tables in front of those that an import writes to: SQLite takes a temporary table for one of the
 * same name in the file, so that a dry run runs the very same statements and is forgotten with the connection.
 */
export function shadowTables(database: Connection, account: AccountNumber): void {
  database.run(sql`
    CREATE TEMP TABLE stored_leads (
      position INTEGER PRIMARY KEY, account INTEGER AS (${sql.raw(ofPosition.account)}),
      identified_at INTEGER AS (${sql.raw(ofPosition.identifiedAt)}), uuid BLOB, pixel INTEGER, state TEXT,
      city_key TEXT, has_email INTEGER, import INTEGER, doc TEXT, UNIQUE (account, identified_at), UNIQUE (account, uuid)
    )`);
  database.run(sql`
    INSERT INTO temp.stored_leads (position, uuid) SELECT position, uuid FROM main.stored_leads WHERE account = ${account}`);
  database.run(sql`
    CREATE TEMP TABLE pixels (
      number INTEGER PRIMARY KEY, account INTEGER, id TEXT, status TEXT, created_at INTEGER, UNIQUE (account, id)
    )`);
  database.run(sql`INSERT INTO temp.pixels SELECT * FROM main.pixels WHERE account = ${account}`);
}
