/** Imports without a user who watches: files of an inbox, and deliveries of vendors. */
import { dirname, join } from "node:path";
import { accountOf } from "../../../src/cli/arguments.ts";
import type { CommandContext } from "../../../src/cli/command.ts";
import { importFile } from "../../../src/cli/lead/import/import-file.ts";
import { type ImportSettings, prepareReading, requestOf } from "../../../src/cli/lead/import/options.ts";
import { passedText, warningText } from "../../../src/cli/lead/import/report.ts";
import { grouped, leadsText, rowsText } from "../../../src/cli/terminal/numbers.ts";
import type { Output } from "../../../src/cli/terminal/output.ts";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { type ImportCounts, ImportInterrupted } from "../../../src/import/new-lead.ts";
import { inOneLine, UserError } from "../../../src/runtime/user-error.ts";
import { type FileSource, type Outcome, rejectedFolder } from "../inbox/archive.ts";
import type { ImportFile } from "../inbox/drop-folder.ts";
import type { ImportNews, ImportOrder, ImportProcess } from "../inbox/import-process.ts";

/** Prints nothing. The inbox reports the outcome of each file in one line. */
const silent: Output = { json: false, result: () => true, say: () => undefined };

/** Returns the function that imports files with some settings. Throws a UserError if the settings are wrong. */
export function importWith(
  context: CommandContext,
  account: string,
  settings: ImportSettings,
  source: FileSource,
  imports: ImportProcess,
): ImportFile {
  try {
    prepareReading(context, accountOf(context, account), requestOf(settings));
  } catch (cause) {
    if (!(cause instanceof UserError) || cause instanceof DatabaseUnavailable) throw cause;
    throw new UserError(`the options of its import are wrong, and its files remain pending: ${cause.sentence}`, "");
  }
  return (file, rejects) => imports.run({ account, settings, source, file, rejects });
}

/** Runs as the process that imports: takes orders from its parent until that ends. */
export async function serveImports(context: CommandContext): Promise<void> {
  const ended = Promise.withResolvers<void>();
  // The parent gets the signal as well, and decides when the import of the file ends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  process.once("disconnect", ended.resolve);
  process.on("message", async (order: ImportOrder) => process.send?.(await runOrder(context, order)));
  await ended.promise;
}

/** Imports a file, and returns the outcome. */
function runOrder(
  context: CommandContext,
  { account: idOrName, settings, source, file, rejects, nowMs }: ImportOrder,
): Promise<Outcome> {
  const startedMs = performance.now();
  const now = () => Math.floor(nowMs + performance.now() - startedMs);
  const own = { rejects, rejectsKept: join(dirname(file), rejectedFolder) };
  const mode = source === "deliveries" ? "delivery" : "inbox";
  const request = { ...requestOf(settings), ...own, mode } as const;
  // An inbox that is told to stop stops after this file.
  const stop = new AbortController().signal;
  const onRead = () => void process.send?.("read" satisfies ImportNews);
  return outcomeOf(importFile({ ...context, now, output: silent }, { idOrName, file, request, stop, onRead }));
}

/** Returns the outcome of an import. A bug of Leadfile that one file triggers must not keep other files from being imported. */
async function outcomeOf(importing: ReturnType<typeof importFile>): Promise<Outcome> {
  try {
    const { counts, repeated, passed, warnings, rejectedFor } = await importing;
    const { rejected } = counts;
    const why = rejected === 0 ? [] : [`${rowsText(rejected)} went to rejected/ (most often: ${rejectedFor})`];
    const remarks = [...why, importedText(counts, repeated), ...passed.map(passedText), ...warnings.map(warningText)];
    return { kind: "done", rejected, remarks };
  } catch (cause) {
    if (!(cause instanceof UserError)) return outcomeOfMistake(cause);
    // The file is not at fault if the database or the disk failed.
    const isFileAtFault = !(cause instanceof DatabaseUnavailable || cause instanceof ImportInterrupted);
    if (!isFileAtFault) return { kind: "later", reason: cause.sentence };
    return { kind: "failed", reason: inOneLine(cause.message), advice: inOneLine(cause.advice) };
  }
}

function outcomeOfMistake(cause: unknown): Outcome {
  const what = cause instanceof Error ? `${cause.name}: ${cause.message}` : "unknown";
  const isOfSystem = cause instanceof Error && "syscall" in cause;
  return isOfSystem
    ? { kind: "later", reason: cause.message }
    : { kind: "failed", reason: `Leadfile failed (${inOneLine(what)}).`, advice: "Please report this." };
}

/** Says what became of the rows that were not rejected. */
function importedText({ imported, replaced, duplicates, suppressed }: ImportCounts, repeated: number): string {
  const stored = duplicates - repeated;
  const others = Object.entries({
    replaced,
    "already stored": stored,
    "the same lead again": repeated,
    "skipped (erased person)": suppressed,
  });
  const named = others.filter(([, count]) => count > 0).map(([what, count]) => `${grouped(count)} ${what}`);
  return [`${leadsText(imported)} added`, ...named].join(", ");
}
