/** The store that the admin command works with. */
import type { Account, AccountNumber } from "./db/accounts.ts";
import type { Connection, LeadDatabase } from "./db/connection.ts";
import { databaseOn } from "./db/file-database.ts";
import { openDatabase } from "./db/open.ts";
import { openPixelReader } from "./db/pixels.ts";
import type { PixelReader } from "./db/serving.ts";
import { openSources, type SourceRepository } from "./db/sources.ts";
import type { ImportOptions, ImportOrigin } from "./import/new-lead.ts";
import type { StagedImport } from "./import/staged-import.ts";
import { beginImport } from "./import/write/import.ts";
import { type LeadImport, writeLeads } from "./import/write/lead-writer.ts";
import {
  type Passed,
  passedLeads,
  type Reached,
  type ReadPosition,
  readPositions,
} from "./privacy/disclosures/passed.ts";

export interface LeadRepository {
  beginImport(account: AccountNumber, options: Omit<ImportOptions, "dryRun">): LeadImport;
}

/** The repositories of the commands that do not use the database itself yet. What a method has written is on the disk. */
export interface AdminStore {
  /** The database itself. Commands use it directly; the repositories below go one by one. */
  readonly database: LeadDatabase;
  readonly pixels: PixelReader;
  readonly leads: LeadRepository;
  readonly imports: {
    begin(account: Account, options: ImportOptions, origin: ImportOrigin): StagedImport;
  };
  readonly recipients: {
    /** How far each live key of an account has read. */
    positions(account: number, nowMs: number): readonly ReadPosition[];
    /** What clients have passed of an import that is written. */
    passed(account: number, batch: number, reached: readonly Reached[]): readonly Passed[];
  };
  readonly sources: SourceRepository;
  close(): void;
}

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
