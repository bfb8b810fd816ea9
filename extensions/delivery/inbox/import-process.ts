/**
 * Imports files in a separate process, with a time limit for each: one that Leadfile cannot read to its end, because of a
 * fault of Leadfile or of the file, costs nothing but itself.
 */
import { statSync } from "node:fs";
import type { ImportSettings } from "../../../src/cli/lead/import/options.ts";
import { processEnvironment } from "../../../src/config.ts";
import { codeOf } from "../../../src/db/failure.ts";
import { commandOf } from "../../../src/server/child-process.ts";
import type { FileSource, Outcome } from "./archive.ts";

/** The import of one file. */
export interface ImportOrder {
  readonly account: string;
  readonly settings: ImportSettings;
  readonly source: FileSource;
  readonly file: string;
  readonly rejects: string;
  /** The time of the clock. */
  readonly nowMs: number;
}

/** The answers of the process: first that the file was read, then the outcome. */
export type ImportNews = "read" | Outcome;

/** A file may be read for a minute, and for one more for each part of this size. */
const minuteMs = 60_000;
const bytesPerMinute = 100_000_000;
/** Exports shrink to about a tenth when they are compressed. */
const packedFactor = 10;
/** A file that has ended the process so often is not tried again. */
const maxEnds = 5;
/** The time for an import to end when its inbox ends. A kill loses nothing. */
const stopTimeoutMs = 4_000;

/** A process that imports files. It starts with the first one, and again with the one after its end. */
export class ImportProcess {
  #running: Running | null = null;
  /** The number of times that the import of a file has ended the process. */
  readonly #ends = new Map<string, number>();

  constructor(
    readonly command: readonly string[],
    readonly now: () => number,
    readonly limits = { minuteMs },
  ) {}

  /** Imports a file. Never throws: whatever happens becomes an outcome. */
  async run(order: Omit<ImportOrder, "nowMs">): Promise<Outcome> {
    const { file } = order;
    const limitMs = this.limits.minuteMs * minutesFor(file);
    let isLate = false;
    const limit = AbortSignal.timeout(Math.ceil(limitMs));
    limit.onabort = () => {
      isLate = true;
      this.end();
    };
    try {
      this.#running ??= start(this.command);
      // To write leads may take long for reasons that are not the file, such as other imports.
      const outcome = await this.#running.send({ ...order, nowMs: this.now() }, () => {
        limit.onabort = null;
      });
      this.#ends.delete(file);
      return outcome;
    } catch (cause) {
      this.end();
      if (!isLate)
        return this.#outcomeOfEnd(file, codeOf(cause) || (cause instanceof Error ? cause.message : "unknown"));
      return { kind: "failed", reason: `It could not be read in ${durationText(limitMs)}.`, advice, isLate };
    } finally {
      limit.onabort = null;
    }
  }

  /** Ends the process. During an import, its file is imported again. */
  end(): void {
    this.#running?.child.kill("SIGKILL");
    this.#running = null;
  }

  /** Ends the process soon, unless its import ends before. */
  readonly stop = (): void => void setTimeout(() => this.end(), stopTimeoutMs).unref();

  /** Returns the outcome of an import whose process ended. Somebody may have killed it; after some times, the file is at fault. */
  #outcomeOfEnd(file: string, status: string): Outcome {
    const ends = (this.#ends.get(file) ?? 0) + 1;
    const isAtFault = ends === maxEnds;
    if (isAtFault) this.#ends.delete(file);
    else this.#ends.set(file, ends);
    const reason = `Its import ended unexpectedly (${status}).`;
    return isAtFault ? { kind: "failed", reason, advice } : { kind: "later", reason };
  }
}

type Running = ReturnType<typeof start>;

function start(command: readonly string[]) {
  let answer: (news: ImportNews) => void = () => undefined;
  const child = Bun.spawn([...command], {
    env: processEnvironment(),
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    ipc: (news: ImportNews) => answer(news),
  });
  return {
    child,
    /** Resolves with the outcome. Rejects when the process ends. */
    send(order: ImportOrder, onRead: () => void): Promise<Outcome> {
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
      answer = (news) => (news === "read" ? onRead() : resolve(news));
      void child.exited.then(() => reject(new Error(String(child.signalCode ?? child.exitCode))));
      child.send(order);
      return promise;
    },
  };
}

/** Returns the command line of the process that imports the files of a folder. */
export function importCommandOf(folder: string): string[] {
  return commandOf(["inbox", folder, "--import"]);
}

const advice = "Nothing was imported from it. Please report this. To find the rows at fault, import the file in parts.";

function durationText(ms: number): string {
  const minutes = Math.round(ms / minuteMs);
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}

/** A file that has gone is refused soon. */
function minutesFor(file: string): number {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return Math.max(1, (file.endsWith(".gz") ? packedFactor : 1) * (bytes / bytesPerMinute));
}
