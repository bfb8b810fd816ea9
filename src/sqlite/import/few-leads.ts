/** A few leads at once, without a file: they are written as they come. */
import type { ImportOptions, LeadImport } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { shadowTables } from "./dry-run.ts";
import { openDestination, openLeadWriter } from "./lead-writer.ts";

/** Begins to write leads as they come, which belong to no batch. */
export function beginImport(database: Connection, account: AccountNumber, options: ImportOptions): LeadImport {
  if (options.dryRun) shadowTables(database, account);
  const writer = openLeadWriter(openDestination(database, account), options);
  return {
    write(leads, nowMs) {
      const work = () => {
        writer.begin({ batch: 0, nowMs, stampMs: nowMs });
        return leads.map(writer.write);
      };
      // A dry run writes only to its shadow tables, and must not keep anybody from writing.
      return database.transaction(work, { behavior: options.dryRun ? "deferred" : "immediate" });
    },
  };
}
