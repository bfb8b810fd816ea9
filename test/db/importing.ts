/** An import as its command makes it: leads are staged, previewed, and merged. */

import type { Account } from "../../src/db/accounts.ts";
import type { LeadDatabase } from "../../src/db/connection.ts";
import { emptyCounts, type ImportCounts, type ImportOptions, type NewLead } from "../../src/import/new-lead.ts";
import { importerOn, importLeads } from "../../src/import/write/import.ts";
import type { MergeProgress } from "../../src/import/write/import-record.ts";
import { noonMs } from "../support/builders.ts";

export const origin = { file: "export.csv", by: "tester", rejectsFile: null, startedMs: noonMs };

const plainly: ImportOptions = { onDuplicate: "skip", createPixels: true, dryRun: false };

interface How {
  readonly options?: ImportOptions;
  readonly now?: () => number;
}

/** Each step is a transaction. A caller that takes no more of them has cut the import short. */
export async function* importing(
  database: LeadDatabase,
  account: Account,
  leads: readonly NewLead[],
  { options = plainly, now = () => noonMs }: How = {},
): AsyncGenerator<MergeProgress> {
  const staged = importerOn(database.read)(account, options, { ...origin, startedMs: now() });
  yield* importLeads(staged, leads, now);
}

/** Imports all leads, and gives what came of them. */
export async function imported(
  database: LeadDatabase,
  account: Account,
  leads: readonly NewLead[],
  how: How = {},
): Promise<Readonly<ImportCounts>> {
  let counts: Readonly<ImportCounts> = emptyCounts();
  for await (const progress of importing(database, account, leads, how)) counts = progress.counts;
  return counts;
}
