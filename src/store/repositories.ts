/** What the admin command reads and writes: leads and imports. */
import type { Account } from "../db/accounts.ts";
import type { ImportOptions, ImportOrigin, ImportOutcome, NewLead } from "../import/new-lead.ts";
import type { StagedImport } from "../import/staged-import.ts";
import type { AccountNumber } from "./reading.ts";

export type { Account } from "../db/accounts.ts";
export type { KeyRecord } from "../db/keys.ts";

export interface LeadImport {
  /** Writes leads in one transaction, in their order, and returns the outcome of each. They belong to no batch. */
  write(leads: readonly NewLead[], nowMs: number): ImportOutcome[];
}

export interface LeadRepository {
  beginImport(account: AccountNumber, options: Omit<ImportOptions, "dryRun">): LeadImport;
}

export interface ImportRepository {
  begin(account: Account, options: ImportOptions, origin: ImportOrigin): StagedImport;
}
