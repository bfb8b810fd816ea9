/** One import, from its file to its last lead. */
import { userInfo } from "node:os";
import { basename, resolve } from "node:path";
import { isKnownLayout } from "../../../db/imports.ts";
import { listPixels } from "../../../db/pixels.ts";
import { isRejectColumn } from "../../../import/map/column.ts";
import { Columns } from "../../../import/map/columns.ts";
import { readMapping } from "../../../import/map/mapping.ts";
import { questionsIn } from "../../../import/map/questions.ts";
import { reportOn } from "../../../import/map/report.ts";
import { emptyCounts, type ImportOrigin, isUnattended } from "../../../import/new-lead.ts";
import { writeRejects } from "../../../import/parse/rejects.ts";
import { openSource } from "../../../import/parse/source.ts";
import { type FileRead, type Reading, readFile } from "../../../import/reading.ts";
import type { StagedImport } from "../../../import/write/import.ts";
import type { MergeProgress } from "../../../import/write/import-record.ts";
import type { MergeListener } from "../../../import/write/merge.ts";
import { missedLeads, type PositionsAt, readPositions } from "../../../privacy/sent/missed.ts";
import { adminCommand } from "../../../runtime/program-name.ts";
import { stoppedBy } from "../../../runtime/signals.ts";
import { lowerPriority } from "../../../server/child-process.ts";
import { accountOf } from "../../arguments.ts";
import type { CommandContext } from "../../command.ts";
import { grouped, leadsText } from "../../terminal/numbers.ts";
import type { Output } from "../../terminal/output.ts";
import { createProgress } from "../../terminal/progress.ts";
import { canAsk, sayThatItWaits } from "../../terminal/prompt.ts";
import { checkPixel, type ImportRequest, readRules, withWritableRejects } from "./options.ts";
import { announceColumns, announcePreview, sampleText } from "./preview.ts";
import { Answered, type Asking, askAbout } from "./questions.ts";
import { mostFrequentReason, warningsOf, warningText } from "./report.ts";

/** The file and the options of one import. */
export interface Asked {
  readonly idOrName: string;
  readonly file: string;
  readonly request: ImportRequest;
  /** Ends the import in order when it is aborted, with the signal of the system as its reason. */
  readonly stop: AbortSignal;
  /** Called when the file was read to its end, before the first lead is written. */
  readonly onRead?: () => void;
}

/** Imports a file. If questions about its first rows are answered at a terminal, it is read again with the answers. */
export async function importFile(context: CommandContext, asked: Asked): ReturnType<typeof importOnce> {
  try {
    return await importOnce(context, asked);
  } catch (cause) {
    if (!(cause instanceof Answered)) throw cause;
    return importFile(context, { ...asked, request: { ...asked.request, ...cause.options } });
  }
}

/** Reads a file to its end, then writes its leads. */
async function importOnce(context: CommandContext, asked: Asked) {
  const { idOrName, file, stop } = asked;
  const columns = new Columns(readMapping(asked.request.map ?? null), asked.request.vendor ?? null);
  const database = context.database();
  const account = accountOf(context, idOrName);
  const { number, retainDays } = account;
  const rules = readRules(account.id, asked.request);
  checkPixel(context, account, asked.request);
  const request = withWritableRejects(asked.request);
  if (file === "-") sayThatItWaits("the export");
  const source = openSource(file, context.standardInput, isUnattended(request.mode));
  lowerPriority();
  const staged = (await database.importer())(account, request, originOf(file, request, context.now()));
  try {
    const reading = { source, columns, rules, options: request, retainDays, staged, now: context.now };
    const known = new Set(listPixels(database.read, number).map(({ id }) => id));
    const isAttended = !isUnattended(request.mode) && request.yes !== true && canAsk();
    const asking = { output: context.output, request, account: idOrName, file, isAttended, pixels: [...known] };
    const fileRead = await beforeWriting(stop, read(asking, reading));
    const layout = columns.layoutHash();
    const isUnknown = () => !isKnownLayout(database.read, number, layout);
    const sample = staged.sample(context.now());
    const planned = { output: context.output, request, columns, known, isUnknown, isAttended, sample };
    const { leads, doubts } = await beforeWriting(stop, announcePreview(planned, staged, fileRead));
    asked.onRead?.();
    // Before the first lead: an import that is interrupted has its rejects file too.
    saveRejects(request, staged.rejectedRows(), fileRead.format, columns);
    const positions = () => readPositions(database.read, number, context.now());
    const reached: PositionsAt[] = [{ afterMs: null, positions: positions() }];
    // Others may have imported newer leads since: a lead is late for a client up to its read position at that time.
    const onLate = (afterMs: number | null) => reached.push({ afterMs, positions: positions() });
    const begin = (listener: MergeListener) => staged.merge({ counts: fileRead.counts, layout }, context.now, listener);
    const merged = await merge(context.output, asked, leads, begin, onLate);
    // Each delivery has its own columns, so a name in --map need not be among those of the last one.
    const warnings = warningsOf(fileRead.notes, request.mode === "delivery" ? [] : columns.missing());
    for (const warning of warnings) context.output.say(warningText(warning));
    return {
      ...merged,
      account,
      /** Clients that missed leads, because the leads are older than their read position. */
      passed: merged.importNumber === null ? [] : missedLeads(database.read, number, merged.importNumber, reached),
      /** The reasons why the file looks wrong, and warnings about omitted values. */
      warnings: [...doubts, ...warnings],
      columns: reportOn(columns, request.stamp).columns,
      vendor: columns.vendor,
      sample: sample.map(({ lead }) => lead),
      sampleText: sample.length === 0 ? null : sampleText(sample, columns),
      rejects: request.rejects,
      rejectedFor: mostFrequentReason(fileRead.notes),
    };
  } finally {
    source.close();
    staged.close();
  }
}

function saveRejects(
  { rejects, dryRun, mode }: ImportRequest,
  rows: ReturnType<StagedImport["rejectedRows"]>,
  format: FileRead["format"],
  columns: Columns,
): void {
  if (rejects === undefined || dryRun === true) return;
  const titles = columns.all.map(({ title }) => title);
  writeRejects(rejects, rows, format, titles, isUnattended(mode));
}

/** Waits for the reading, or for an answer. Throws a UserError as soon as a signal comes. */
async function beforeWriting<Result>(stop: AbortSignal, work: Promise<Result>): Promise<Result> {
  const stopped = Promise.withResolvers<never>();
  const end = () =>
    stopped.reject(stoppedBy(stop.reason, "Stopped before the first lead was written. Nothing was imported.", ""));
  if (stop.aborted) end();
  stop.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    stop.removeEventListener("abort", end);
  }
}

/** Reads the file to its end, prints the column mapping, asks what is open, and shows the progress. */
async function read(asking: Asking, reading: Reading): Promise<FileRead> {
  const { output, file, request } = asking;
  const { source, columns, rules } = reading;
  using progress = createProgress("Reading", source.size, output);
  return await readFile({
    ...reading,
    async onFirstRows(rows, format) {
      if (request.mode === "delivery") return;
      const questions = questionsIn(rows, rules, reading.now());
      const isOfRejects = columns.all.some(({ name }) => isRejectColumn(name));
      output.say(announceColumns(columns, format, file === "-" ? "standard input" : file));
      // The rows are read once more.
      columns.origins.forget();
      // The person who imports rejected rows has seen how they are read.
      await askAbout(isOfRejects ? { ...questions, time: null } : questions, asking);
    },
    onProgress: (rows) => progress.update(source.bytesRead(), rows),
  });
}

/** Returns where an import comes from, as its record states it. */
function originOf(file: string, { rejects, rejectsKept = rejects }: ImportRequest, startedMs: number): ImportOrigin {
  const name = file === "-" ? "-" : basename(file);
  // An erasure names it later, perhaps from another folder.
  const rejectsFile = rejectsKept === undefined ? null : resolve(rejectsKept);
  // A service or a container has no name for its user.
  const { username, uid } = userInfo();
  return { file: name, by: username === "unknown" ? `uid ${uid}` : username, rejectsFile, startedMs };
}

const nothing = { done: 0, importNumber: null, newestMs: null, overwritten: 0, repeated: 0 };

/**
 * Merges a number of staged leads and shows the progress. `onLate` is called with the time after which leads came late.
 * Throws a UserError if a signal comes before the last lead.
 */
async function merge(
  output: Output,
  { request, stop }: Asked,
  leads: number,
  begin: (listener: MergeListener) => AsyncGenerator<MergeProgress>,
  onLate: (afterMs: number | null) => void,
): Promise<MergeProgress> {
  using progress = createProgress("Writing", leads, output);
  const onProgress = (done: number) => progress.update(done, done);
  let merged: MergeProgress = { ...nothing, counts: emptyCounts() };
  for await (const step of begin({ onProgress, isStopping: () => stop.aborted })) {
    if (step.counts.late > merged.counts.late) onLate(merged.newestMs);
    merged = step;
    // A dry run changes nothing: it is stopped as the reading is.
    if (request.dryRun === true) await beforeWriting(stop, Bun.sleep(0));
    else if (stop.aborted && step.done < leads) {
      const what = `Stopped after ${grouped(step.done)} of ${grouped(leads)} leads. They are kept.`;
      throw stoppedBy(stop.reason, what, `Run the command again to complete it${undoText(step)}.`);
    }
  }
  return merged;
}

function undoText({ importNumber, overwritten }: MergeProgress): string {
  if (importNumber === null) return ". No lead was new so far";
  if (overwritten === 0) return `, or remove them with ${adminCommand} import undo`;
  return `. It replaced ${leadsText(overwritten)} of other imports and cannot be undone`;
}
