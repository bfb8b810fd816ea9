/** One import, from its file to its last lead. */
import { userInfo } from "node:os";
import { basename, resolve } from "node:path";
import { isKnownLayout } from "../../../db/imports.ts";
import { listPixels } from "../../../db/pixels.ts";
import { Columns } from "../../../import/map/columns.ts";
import { readMapping } from "../../../import/map/mapping.ts";
import { reportOn } from "../../../import/map/report.ts";
import { emptyCounts, type ImportOrigin, isUnattended } from "../../../import/new-lead.ts";
import { writeRejects } from "../../../import/parse/rejects.ts";
import { openSource } from "../../../import/parse/source.ts";
import { type FileRead, type Reading, readFile } from "../../../import/reading.ts";
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
import { sayThatItWaits } from "../../terminal/prompt.ts";
import { checkPixel, type ImportRequest, readRules, withWritableRejects } from "./options.ts";
import { announceColumns, announcePreview } from "./preview.ts";
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

/** Reads a file to its end, then writes its leads. */
export async function importFile(context: CommandContext, asked: Asked) {
  const { idOrName, file, stop } = asked;
  const columns = new Columns(readMapping(asked.request.map ?? null));
  const database = context.database();
  const account = accountOf(context, idOrName);
  const { number, retainDays } = account;
  const rules = readRules(account.id, asked.request);
  checkPixel(context, account, asked.request);
  const request = withWritableRejects(asked.request);
  if (file === "-") sayThatItWaits("the export");
  const source = openSource(file, context.standardInput, isUnattended(request.mode));
  lowerPriority();
  const staged = (await database.importer()).begin(account, request, originOf(file, request, context.now()));
  try {
    const reading = { source, columns, rules, options: request, retainDays, staged, now: context.now };
    const fileRead = await beforeWriting(stop, read(context.output, file, reading));
    const known = new Set(listPixels(database.read, number).map(({ id }) => id));
    const layout = columns.layoutHash();
    const isUnknown = () => !isKnownLayout(database.read, number, layout);
    const sample = staged.sample(context.now());
    const planned = { output: context.output, request, columns, known, isUnknown, sample };
    const { leads, doubts } = await beforeWriting(stop, announcePreview(planned, staged, fileRead));
    asked.onRead?.();
    // Before the first lead: an import that is interrupted has its rejects file too.
    if (request.rejects !== undefined && request.dryRun !== true) {
      const titles = columns.all.map(({ title }) => title);
      writeRejects(request.rejects, staged.rejectedRows(), fileRead.format, titles, isUnattended(request.mode));
    }
    const positions = () => readPositions(database.read, number, context.now());
    const reached: PositionsAt[] = [{ afterMs: null, positions: positions() }];
    // Leads are late for clients up to their read position at that time: others may have imported newer leads since.
    const onLate = (afterMs: number | null) => reached.push({ afterMs, positions: positions() });
    const begin = (listener: MergeListener) => staged.merge({ counts: fileRead.counts, layout }, context.now, listener);
    const merged = await merge(context.output, asked, leads, begin, onLate);
    // Each delivery has its own columns, so a name in --map need not be among those of the last one.
    const missing = request.mode === "delivery" ? [] : columns.missing();
    const warnings = warningsOf(fileRead.notes, missing);
    for (const warning of warnings) context.output.say(warningText(warning));
    return {
      ...merged,
      account,
      /** Clients that missed leads, because the leads are older than their read position. */
      passed: merged.importNumber === null ? [] : missedLeads(database.read, number, merged.importNumber, reached),
      /** The reasons why the file looks wrong, and warnings about omitted values. */
      warnings: [...doubts, ...warnings],
      columns: reportOn(columns, request.stamp).columns,
      sample,
      /** The file with the rejected rows. */
      rejects: request.rejects,
      rejectedFor: mostFrequentReason(fileRead.notes),
    };
  } finally {
    source.close();
    staged.close();
  }
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

/** Reads the file to its end, prints the column mapping, and shows the progress. */
async function read(output: Output, file: string, reading: Reading): Promise<FileRead> {
  const { source, columns } = reading;
  using progress = createProgress("Reading", source.size, output);
  return await readFile({
    ...reading,
    onColumns: (format) => output.say(announceColumns(columns, format, file === "-" ? "standard input" : file)),
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

const nothing = { done: 0, importNumber: null, newestMs: null, overwritten: 0 };

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
