/** One import, from its file to its last lead. */
import { userInfo } from "node:os";
import { basename, resolve } from "node:path";
import { isKnownLayout } from "../../../db/imports.ts";
import { listPixels } from "../../../db/pixels.ts";
import { isRejectColumn } from "../../../import/map/column.ts";
import { Origins } from "../../../import/map/origins.ts";
import { questionsIn } from "../../../import/map/questions.ts";
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
import { createProgress } from "../../terminal/progress.ts";
import { canAsk, sayThatItWaits } from "../../terminal/prompt.ts";
import { type Asked, type ImportRequest, type ImportRun, prepareReading, withWritableRejects } from "./options.ts";
import { announceColumns, announcePreview, sampleText } from "./preview.ts";
import { Answered, askAbout } from "./questions.ts";
import { mostFrequentReason } from "./report.ts";

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
  const { file, stop } = asked;
  const { output, now } = context;
  const { read, importer } = context.database();
  const account = accountOf(context, asked.idOrName);
  const { number, retainDays } = account;
  const { columns, rules } = prepareReading(context, account, asked.request);
  const request = withWritableRejects(asked.request);
  const pixels = new Set(listPixels(read, number).map(({ id }) => id));
  const isAttended = !isUnattended(request.mode) && request.yes !== true && canAsk();
  const run: ImportRun = { ...asked, request, output, account, columns, pixels, isAttended };
  if (file === "-") sayThatItWaits("the export");
  const source = openSource(file, context.standardInput, isUnattended(request.mode));
  lowerPriority();
  const staged = (await importer())(account, request, originOf(file, request, now()));
  try {
    const reading = { source, columns, rules, options: request, retainDays, staged, now };
    const fileRead = await beforeWriting(stop, readAll(run, reading));
    const layout = columns.layoutHash();
    const sample = staged.sample(now());
    const seen = { sample, isNew: !isKnownLayout(read, number, layout) };
    const { leads, warnings } = await beforeWriting(stop, announcePreview(run, staged, fileRead, seen));
    asked.onRead?.();
    // Written before the first lead, so that an interrupted import has its rejects file, too.
    if (request.rejects !== undefined && request.dryRun !== true) {
      const titles = columns.all.map(({ title }) => title);
      writeRejects(request.rejects, staged.rejectedRows(), fileRead.format, titles, isUnattended(request.mode));
    }
    const positions = () => readPositions(read, number, now());
    const reached: PositionsAt[] = [{ afterMs: null, positions: positions() }];
    // Others may have imported newer leads since: a lead is late for a client up to its read position at that time.
    const onLate = (afterMs: number | null) => reached.push({ afterMs, positions: positions() });
    const begin = (listener: MergeListener) => staged.merge({ counts: fileRead.counts, layout }, now, listener);
    const merged = await merge(run, leads, begin, onLate);
    return {
      ...merged,
      account,
      /** Clients that missed leads, because the leads are older than their read position. */
      passed: merged.importNumber === null ? [] : missedLeads(read, number, merged.importNumber, reached),
      /** The reasons why the file looks wrong, and warnings about omitted values. */
      warnings,
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

/** Waits until the file is read, or a question is answered. Throws a UserError as soon as a signal arrives. */
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

/** Reads the file to its end, shows the progress, asks the open questions, and prints the column mapping. */
async function readAll(run: ImportRun, reading: Reading): Promise<FileRead> {
  const { output, columns } = run;
  const { source, rules } = reading;
  using progress = createProgress("Reading", source.size, output);
  return await readFile({
    ...reading,
    async onFirstRows(rows, format) {
      if (run.request.mode === "delivery") return;
      const questions = questionsIn(rows, rules, reading.now());
      const isOfRejects = columns.all.some(({ name }) => isRejectColumn(name));
      const origins = new Origins(columns.all);
      for (const origin of questions.origins) origins.add(origin);
      const announced = announceColumns(run, reportOn(columns, "source", origins), format);
      // The person who imports rejected rows has seen how they are read.
      await askAbout(isOfRejects ? { ...questions, time: null } : questions, run);
      output.say(announced);
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
  { output, request, stop }: ImportRun,
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
