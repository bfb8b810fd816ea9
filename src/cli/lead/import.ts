/** bun admin lead import: a vendor's export, as it is, becomes leads. */
import { setPriority } from "node:os";
import { type Command, Option } from "commander";
import { type Columns, createColumns, readMapping } from "../../ingest/columns.ts";
import { toUtf8 } from "../../ingest/encoding.ts";
import { openRejects } from "../../ingest/rejects.ts";
import type { Format } from "../../ingest/row.ts";
import { openRows } from "../../ingest/rows.ts";
import { type Counts, emptyCounts, runImport } from "../../ingest/run.ts";
import { openSource } from "../../ingest/source.ts";
import { printable } from "../../operator/printable.ts";
import { UserError } from "../../operator/user-error.ts";
import { accountOf, jsonCommand, outputOf, type Surroundings } from "../command.ts";
import type { Output } from "../terminal/output.ts";
import { checkPixel, checkRejects, type ImportRequest, readRules } from "./import-options.ts";
import { columnsText, createNotes, type Notes, summaryText } from "./import-report.ts";
import { createProgress } from "./progress.ts";

export function importCommand(around: Surroundings): Command {
  return jsonCommand("import")
    .description("import a vendor's export: CSV or NDJSON, gzipped or not")
    .argument("<ACCOUNT>", "id or exact name")
    .argument("<FILE>", "the export; - reads standard input")
    .option("--map <THEIRS=OURS,…>", "say which column is which field; - for one that is not to be kept")
    .option("--pixel <ID>", "the pixel of rows that name none")
    .option("--create-pixels", "make the pixels that the file names")
    .option("--rejects <FILE>", "write rejected rows there, with line and reason")
    .option("--identity <FIELDS>", "tell rows without an id apart by these fields alone, such as email,page_url")
    .addOption(
      new Option("--on-duplicate <WHAT>", "what to do with a lead that is there already")
        .choices(["skip", "replace"])
        .default("skip"),
    )
    .addOption(
      new Option("--stamp <WHOSE>", "the time that leads get: that of the source, or that of the import")
        .choices(["source", "arrival"])
        .default("source"),
    )
    .option("--timezone <ZONE>", "the zone of times without an offset, such as America/New_York", "UTC")
    .option("--day-first", "read 01/02/2026 as the first of February")
    .option("--dry-run", "go through it all and change nothing")
    .addHelpText(
      "after",
      `
Ends with 3 when it is done but has rejected rows.`,
    )
    .action((idOrName: string, file: string, request: ImportRequest) => runCommand(around, idOrName, file, request));
}

async function runCommand(around: Surroundings, idOrName: string, file: string, request: ImportRequest): Promise<void> {
  const output = outputOf(request);
  const notes = createNotes();
  const columns = createColumns(readMapping(request.map ?? null));
  const counts = await importFile(around, { idOrName, file, request, columns }, output, notes);
  for (const line of notes.lines(columns.missing())) output.say(line);
  output.result(counts, summaryText(counts, request));
  if (counts.rejected > 0) around.endWith(3);
}

interface Asked {
  readonly idOrName: string;
  readonly file: string;
  readonly request: ImportRequest;
  readonly columns: Columns;
}

async function importFile(around: Surroundings, asked: Asked, output: Output, notes: Notes): Promise<Counts> {
  const { idOrName, file, request, columns } = asked;
  const { leads } = around.store();
  const account = accountOf(around.store(), idOrName);
  const rules = readRules(account.id, request);
  const source = openSource(file, around.standardInput);
  checkPixel(around, account, request);
  checkRejects(around, file, request);
  const rejectsOf = request.rejects === undefined ? null : openRejects(request.rejects);
  const counts = emptyCounts();
  const rows = await openRows(toUtf8(source.chunks, notes.legacyLine), columns);
  if (rows === null) return counts;

  const rejects = rejectsOf?.(rows.format, () => columns.titles) ?? null;
  const progress = createProgress(source, output);
  giveWay();
  const target = leads.startImportWorker(account.number, {
    onDuplicate: request.onDuplicate,
    createPixels: request.createPixels === true,
    dryRun: request.dryRun === true,
  });
  const groups = announce(rows.groups, columns, () => announceColumns(columns, rows.format, output));
  const { onReject, onWarning } = notes;
  try {
    const run = { groups, columns, rules, target, rejects, now: around.now, onReject, onWarning };
    await runImport({ ...run, onProgress: progress.update }, counts);
  } finally {
    target.close();
    progress.stop();
    rejects?.close();
  }
  return counts;
}

/** A server beside it goes first where the machine is busy: its clients wait for an answer, an import for nobody. */
function giveWay(): void {
  try {
    setPriority(10);
  } catch {
    // A hardened service may not; then both go at the same pace.
  }
}

/** Says what is read as what; throws a UserError where a table has nothing to read, or not what --map names. */
function announceColumns(columns: Columns, format: Format, output: Output): void {
  const report = columns.report();
  const [missing] = columns.missing();
  const names = `Its columns are ${columns.names.slice(0, 40).map(printable).join(", ")}.`;
  if (format.kind === "csv" && missing !== undefined) {
    throw new UserError(`--map names a column ${JSON.stringify(missing)}, which the file does not have.`, names);
  }
  if (format.kind === "csv" && report.matched.length === 0) {
    const advice = "Check that it is CSV or NDJSON and begins with a header; --map says which column is which field.";
    throw new UserError(`No column of the file was recognised. ${names}`, advice);
  }
  output.say(columnsText(report, format));
}

/** Says something once columns are known, while nothing is imported yet. */
async function* announce<Group>(
  groups: AsyncGenerator<Group>,
  columns: Columns,
  say: () => void,
): AsyncGenerator<Group> {
  let said = false;
  for await (const group of groups) {
    if (!said && columns.names.length > 0) {
      say();
      said = true;
    }
    yield group;
  }
}
