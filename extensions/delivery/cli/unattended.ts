/** Imports without a user who watches: files of an inbox, and deliveries of vendors. */
import { dirname, join } from "node:path";
import { accountOf } from "../../../src/cli/arguments.ts";
import type { CommandContext } from "../../../src/cli/command.ts";
import { importFile } from "../../../src/cli/lead/import/import-file.ts";
import { checkPixel, readRules } from "../../../src/cli/lead/import/options.ts";
import { passedText, warningText } from "../../../src/cli/lead/import/report.ts";
import { grouped, leadsText, rowsText } from "../../../src/cli/terminal/numbers.ts";
import type { Output } from "../../../src/cli/terminal/output.ts";
import type { Account } from "../../../src/db/accounts.ts";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { readMapping } from "../../../src/import/map/mapping.ts";
import { type ImportCounts, ImportInterrupted } from "../../../src/import/new-lead.ts";
import { inOneLine, UserError } from "../../../src/runtime/user-error.ts";
import { type FileSource, type Outcome, rejectedFolder } from "../inbox/archive.ts";
import type { ImportFile } from "../inbox/drop-folder.ts";
import { type ImportSettings, requestOf } from "../inbox/settings.ts";

/** The inbox says what became of a file in one line. */
const silent: Output = { json: false, result: () => true, say: () => undefined };

/** Returns the import of files that are read with some settings, or what is wrong with the settings. */
export function importWith(
  context: CommandContext,
  idOrName: string,
  settings: ImportSettings | { readonly fault: string },
  source: FileSource,
): ImportFile | { readonly fault: string } {
  if ("fault" in settings) return settings;
  try {
    checkOptions(context, accountOf(context, idOrName), settings);
  } catch (cause) {
    if (!(cause instanceof UserError) || cause instanceof DatabaseUnavailable) throw cause;
    return { fault: `the options of its import are wrong, and its files wait: ${cause.sentence}` };
  }
  const options = { ...requestOf(settings), mode: source === "deliveries" ? "delivery" : "inbox" } as const;
  return (file, rejects) => {
    const request = { ...options, rejects, rejectsKept: join(dirname(file), rejectedFolder) };
    // An inbox that is told to stop stops after this file.
    const stop = new AbortController().signal;
    return outcomeOf(importFile({ ...context, output: silent }, { idOrName, file, request, stop }));
  };
}

/** Throws a UserError if an account cannot import with these settings. */
export function checkOptions(context: CommandContext, account: Account, settings: ImportSettings): void {
  const request = requestOf(settings);
  readMapping(request.map ?? null);
  readRules(account.id, request);
  checkPixel(context, account, request);
}

/** Returns what became of a file. Throws only for a mistake of Leadfile itself. */
async function outcomeOf(importing: ReturnType<typeof importFile>): Promise<Outcome> {
  try {
    const { counts, passed, warnings, rejectedFor } = await importing;
    const { rejected } = counts;
    const why = rejected === 0 ? [] : [`${rowsText(rejected)} went to rejected/ (most often: ${rejectedFor})`];
    const remarks = [...why, importedText(counts), ...passed.map(passedText), ...warnings.map(warningText)];
    return { kind: "done", rejected, remarks };
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    // The file is not at fault if the database or the disk failed.
    const isFileAtFault = !(cause instanceof DatabaseUnavailable || cause instanceof ImportInterrupted);
    if (!isFileAtFault) return { kind: "later", reason: cause.sentence };
    return { kind: "failed", reason: inOneLine(cause.message), advice: inOneLine(cause.advice) };
  }
}

/** Says what became of the rows that were not rejected. */
function importedText({ imported, replaced, duplicates, suppressed }: ImportCounts): string {
  const others = Object.entries({ replaced, "already stored": duplicates, "skipped (erased person)": suppressed });
  const named = others.filter(([, count]) => count > 0).map(([what, count]) => `${grouped(count)} ${what}`);
  return [`${leadsText(imported)} added`, ...named].join(", ");
}
