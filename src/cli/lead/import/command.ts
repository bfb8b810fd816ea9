/** bun admin lead import: imports a vendor's export as it is. */
import { pathFromShell } from "../../../config.ts";
import type { Passed } from "../../../privacy/sent/missed.ts";
import { adminCommand } from "../../../runtime/program-name.ts";
import { listenForSignals } from "../../../runtime/signals.ts";
import { printable } from "../../../runtime/user-error.ts";
import { type AnyCommand, type CommandContext, jsonCommand } from "../../command.ts";
import { importFile } from "./import-file.ts";
import { type ImportRequest, withImportOptions } from "./options.ts";
import { passedText, summaryText } from "./report.ts";

/**
 * The command `lead import`. It stores nothing until the whole file is read and checked, and exits with status 3 if it rejected
 * rows.
 */
export function importCommand(context: CommandContext): AnyCommand {
  const command = jsonCommand("import", [
    "lead import acme export.csv --create-pixels --rejects rejected.csv",
    `zcat export.csv.gz | ${adminCommand} lead import acme - --pixel px_home`,
    'lead import acme export.csv --map "Seen=identified_at" --day-first',
  ])
    .description("import a vendor's export: CSV, JSON, or NDJSON, which can be gzipped")
    .argument("<ACCOUNT>", "ID or exact name")
    .argument("<FILE>", "the export; - reads standard input");
  return withImportOptions(command)
    .option("--rejects <FILE>", "write rejected rows to this file, with line and reason")
    .option("--yes", "import a new kind of file without asking")
    .option("--dry-run", "show three leads as they would be served, and change nothing")
    .addHelpText(
      "after",
      `
The command reads the whole file before it stores the first lead. The exit
status is 3 if the import was completed but rows were rejected.`,
    )
    .action(async (idOrName, named, options) => {
      const file = named === "-" ? named : pathFromShell(named);
      const isPath = options.rejects !== undefined && options.rejects !== "-";
      const request = isPath ? { ...options, rejects: pathFromShell(options.rejects ?? "") } : options;
      const { stop, forget } = listenForSignals();
      const imported = await importFile(context, { idOrName, file, request, stop }).finally(forget);
      const { importNumber, counts, passed, warnings, columns, sample, vendor, rejects } = imported;
      const trial = request.dryRun === true ? { columns, sample } : {};
      const result = { import: importNumber, ...counts, passed: passed.map(passedView), warnings, vendor, ...trial };
      const summary = summaryText(imported, { ...request, rejects });
      const shown = request.dryRun === true && imported.sampleText !== null ? [imported.sampleText] : [];
      context.output.result(result, [...shown, summary].join("\n\n"));
      for (const client of passed) context.output.say(passedText(client));
      if (counts.rejected > 0) sayRejected(context, request, rejects);
    });
}

/** Sets the exit status for rejected rows, and names their file: it may not be the one that was asked for. */
function sayRejected({ output, setExitStatus }: CommandContext, { dryRun }: ImportRequest, file?: string): void {
  setExitStatus(3);
  // Without --json, the summary names it.
  if (output.json && file !== undefined && dryRun !== true) output.say(`The rejected rows are in ${printable(file)}.`);
}

function passedView({ key, label, late, overlapSeconds }: Passed) {
  return { key, label, late, overlap_seconds: overlapSeconds };
}
