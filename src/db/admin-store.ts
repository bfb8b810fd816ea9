/** The store that the admin command works with. */

import { openSources } from "../../extensions/delivery/sources.ts";
import { beginImport } from "../import/write/import.ts";
import { writeLeads } from "../import/write/lead-writer.ts";
import { openRecipientRepository } from "../privacy/disclosures/passed.ts";
import { openPeople } from "../privacy/people.ts";
import { openRetention } from "../privacy/retention.ts";
import type { AdminStore } from "../store/admin.ts";
import { openAccounts } from "./accounts.ts";
import { openAudit } from "./audit.ts";
import type { Connection } from "./connection.ts";
import { exportDocuments } from "./export.ts";
import { databaseOn } from "./file-database.ts";
import { openKeys } from "./keys.ts";
import { openLeads } from "./leads.ts";
import { openDatabase } from "./open.ts";
import { openPixels } from "./pixels.ts";
import { readStats } from "./stats.ts";

/** Opens it. Throws a StoreError when the file cannot be used. */
export function openAdminStore(path: string): AdminStore {
  return adminStoreOn(openDatabase(path));
}

/** The store on a connection, which may be one that writes into a cluster. */
export function adminStoreOn(database: Connection): AdminStore {
  return {
    database: databaseOn(database),
    accounts: openAccounts(database),
    pixels: openPixels(database),
    keys: openKeys(database),
    leads: {
      ...openLeads(database),
      beginImport: (account, options) => ({
        write: (leads, nowMs) => writeLeads(database, account, leads, { ...options, nowMs }),
      }),
      export: (account) => exportDocuments(database, account),
    },
    imports: {
      begin: (account, options, origin) => beginImport(database, account.number, options, origin),
    },
    stats: (account, sinceMs) => readStats(database, account, sinceMs),
    people: openPeople(database),
    recipients: openRecipientRepository(database),
    retention: openRetention(database),
    audit: openAudit(database),
    sources: openSources(database),
    close: () => database.$client.close(),
  };
}
