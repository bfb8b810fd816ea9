/** An import: all of a file is put aside, and then merged. */
import { dirname } from "node:path";
import type { Connection } from "../../db/connection.ts";
import { underlying } from "../../db/failure.ts";
import { enlargeCache, openForImport } from "../../db/open.ts";
import { openPixels } from "../../db/pixels.ts";
import { StoreError } from "../../store/errors.ts";
import type { ImportOptions, ImportOrigin, LeadImport, StagedImport } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Account } from "../../store/repositories.ts";
import { countChangedVisits } from "./changed-visits.ts";
import { shadowTables } from "./dry-run.ts";
import { openDestination, openLeadWriter } from "./lead-writer.ts";
import { merge } from "./merge.ts";
import { openStaging, type Staging } from "./staging.ts";
import { openStoredLeads } from "./stored-leads.ts";

/** Begins an import into the file that a connection has open; it is written to by a connection of its own. */
export function beginStagedImport(
  database: Connection,
  account: Account,
  options: ImportOptions,
  origin: ImportOrigin,
): StagedImport {
  const path = database.$client.filename;
  const { writer, staging } = openAside(path);
  return {
    ...openPreparation(database, account.number, staging),
    async *merge(counts, now) {
      try {
        staging.sort();
        // What reading has left behind makes room for the cache of the connection, which the merge fills.
        Bun.gc(true);
        enlargeCache(writer);
        if (options.dryRun) shadowTables(writer, account.number);
        yield* merge(writer, account.number, { options, origin, staging, isSameConnection: true, counts, now });
      } catch (cause) {
        throw cutShort(cause);
      }
    },
    close: () => writer.$client.close(),
  };
}

/** What comes before the writing: leads are put aside, and seen beside those that are stored. */
export function openPreparation(
  database: Connection,
  account: AccountNumber,
  { add, reject, rejectedRows, ...staging }: Staging,
): Omit<StagedImport, "merge" | "close"> {
  const stored = openStoredLeads(database, account);
  const pixels = openPixels(database);
  return {
    add,
    reject,
    rejectedRows,
    isStored: (id) => stored.find(id) !== null,
    hasPixel: (id) => pixels.has(account, id),
    preview(mayShareIds) {
      staging.sort();
      const changed = countChangedVisits(database, account, staging, stored);
      return { ...staging.preview(stored.newest()?.at ?? null, mayShareIds), ...changed };
    },
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
export function beginImport(
  database: Connection,
  account: AccountNumber,
  options: Omit<ImportOptions, "dryRun">,
): LeadImport {
  const writer = openLeadWriter(openDestination(database, account), options);
  return {
    write(leads, nowMs) {
      const work = () => {
        writer.begin({ batch: 0, nowMs, stampMs: nowMs });
        return leads.map(writer.write);
      };
      return database.transaction(work, { behavior: "immediate" });
    },
  };
}
