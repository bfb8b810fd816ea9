/** The store that the admin command works with. */

import { beginImport } from "../import/write/import.ts";
import { writeLeads } from "../import/write/lead-writer.ts";
import { passedLeads, readPositions } from "../privacy/disclosures/passed.ts";
import type { AdminStore } from "../store/admin.ts";
import type { Connection } from "./connection.ts";
import { databaseOn } from "./file-database.ts";
import { openDatabase } from "./open.ts";
import { openPixelReader } from "./pixels.ts";
import { openSources } from "./sources.ts";

/** Opens it. Throws a UserError if the file cannot be used. */
export function openAdminStore(path: string): AdminStore {
  return adminStoreOn(openDatabase(path));
}

/** The store on a connection, which may be one that writes into a cluster. */
export function adminStoreOn(database: Connection): AdminStore {
  return {
    database: databaseOn(database),
    pixels: openPixelReader(database),
    leads: {
      beginImport: (account, options) => ({
        write: (leads, nowMs) => writeLeads(database, account, leads, { ...options, nowMs }),
      }),
    },
    imports: {
      begin: (account, options, origin) => beginImport(database, account.number, options, origin),
    },
    recipients: {
      positions: (account, nowMs) => readPositions(database, account, nowMs),
      passed: (account, batch, reached) => passedLeads(database, account, batch, reached),
    },
    sources: openSources(database),
    close: () => database.$client.close(),
  };
}
