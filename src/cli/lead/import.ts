/** bun admin lead import: a vendor's export, as it is, becomes leads. */
import { userInfo } from "node:os";
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { type Columns, createColumns } from "../../ingest/columns/columns.ts";
import { readMapping } from "../../ingest/columns/mapping.ts";
import { writeRejects } from "../../ingest/file/rejects.ts";
import { openSource } from "../../ingest/file/source.ts";
import { giveWay } from "../../operator/priority.ts";
import type { Passed } from "../../store/disclosures.ts";
import { emptyCounts, type ImportCounts, type StagedImport } from "../../store/imports.ts";
import { accountOf } from "../arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "../command.ts";
import type { Output } from "../terminal/output.ts";
import { createProgress } from "../terminal/progress.ts";
import { checkPixel, checkRejects, type ImportRequest, readRules } from "./import-options.ts";
import { announcePlan } from "./import-plan.ts";
import { readFile } from "./import-reading.ts";
import { createNotes, type Notes, summaryText } from "./import-report.ts";
import { goOn, type Interruption, watchInterruption } from "./interruption.ts";
import { passedText, passedView } from "./passed.ts";

export function importCommand(context: CommandContext): Command {
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
The file is read to its end before its first lead goes in.
Ends with 3 when it is done but has rejected rows.`,
    )
    .action((idOrName: string, file: string, request: ImportRequest) =>
      runCommand(context, { idOrName, file, request }),
    );
}

async function runCommand(context: CommandContext, asked: Asked): Promise<void> {
  const { request } = asked;
  const output = outputOf(request);
  const notes = createNotes();
  const columns = createColumns(readMapping(request.map ?? null));
  const { batch, counts, passed } = await importFile(context, {
    ...asked,
    columns,
    output,
    notes,
    interruption: watchInterruption(),
  });
  for (const line of notes.lines(columns.missing())) output.say(line);
  output.result({ import: batch, ...counts, passed: passed.map(passedView) }, summaryText(counts, batch, request));
  for (const client of passed) output.say(passedText(client));
  if (counts.rejected > 0) context.process.endWith(3);
}

interface Asked {
  readonly idOrName: string;
  readonly file: string;
  readonly request: ImportRequest;
}

/** Everything that one import needs. */
interface ImportRun extends Asked {
  readonly columns: Columns;
  readonly output: Output;
  readonly notes: Notes;
  /** How Ctrl-C ends it; null where Ctrl-C does not end it. */
  readonly interruption: Interruption | null;
}

interface Imported {
  readonly batch: number | null;
  readonly counts: ImportCounts;
  /** Clients that have passed leads which came late. */
  readonly passed: readonly Passed[];
}

/** Reads a file to its end, then writes its leads; what it says on its way goes to the output of the run. */
export async function importFile(context: CommandContext, run: ImportRun): Promise<Imported> {
  const { idOrName, file, request } = run;
  const account = accountOf(context, idOrName);
  const rules = readRules(account.id, request);
  checkPixel(context, account, request);
  checkRejects(context, file, request);
  const source = openSource(file, context.process.standardInput);
  giveWay();
  const staged = context.store().imports.begin(account, importOptions(request), originOf(context, file, request));
  const interruption = run.interruption ?? goOn;
  try {
    const counts = emptyCounts();
    const judging = { rules, retainDays: account.retainDays, ...importOptions(request) };
    const reading = readFile({ ...run, ...judging, source, staged, now: context.now }, counts);
    const { format, pixels } = await interruption.beforeWriting(reading);
    if (request.rejects !== undefined && request.dryRun !== true) {
      writeRejects(request.rejects, staged.rejectedRows(), format, run.columns.titles);
    }
    const leads = await interruption.beforeWriting(announcePlan(run, staged, { counts, pixels }));
    const { recipients } = context.store();
    const positions = recipients.positions(account.number, context.now());
    const merged = await merge(context, run, { staged, counts, leads, interruption });
    const isLate = merged.batch !== null && merged.counts.late > 0 && request.dryRun !== true;
    return { ...merged, passed: isLate ? recipients.passed(account.number, merged.batch, positions) : [] };
  } finally {
    interruption.close();
    staged.close();
  }
}

function importOptions({ onDuplicate, createPixels, dryRun }: ImportRequest) {
  return { onDuplicate, createPixels: createPixels === true, dryRun: dryRun === true };
}

function originOf(context: CommandContext, file: string, { rejects }: ImportRequest) {
  const name = file === "-" ? "-" : basename(file);
  return { file: name, by: nameOfUser(), rejectsFile: rejects ?? null, startedMs: context.now() };
}

/** The user of the system who runs this; the number where a service or a container has no name for it. */
function nameOfUser(): string {
  const { username, uid } = userInfo();
  return username === "unknown" ? `uid ${uid}` : username;
}

interface Merging {
  readonly staged: StagedImport;
  readonly counts: ImportCounts;
  readonly leads: number;
  readonly interruption: Interruption;
}

async function merge(
  context: CommandContext,
  { output }: ImportRun,
  merging: Merging,
): Promise<Omit<Imported, "passed">> {
  const { staged, leads, interruption } = merging;
  const progress = createProgress("Writing", leads, output);
  let { counts } = merging;
  let batch: number | null = null;
  try {
    for await (const step of staged.merge(counts, context.now)) {
      counts = { ...step.counts };
      batch = step.batch;
      progress.update(step.done, step.done);
      interruption.afterStep(step.done, leads);
    }
  } finally {
    progress.stop();
  }
  return { batch, counts };
}
