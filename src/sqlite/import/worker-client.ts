/**
 * An import in a thread of its own: while one group of leads is written, the next one is read and made ready, and the one
 * before is put on the disk.
 */

import { StoreError } from "../../store/errors.ts";
import type { ImportOptions, ImportOutcome, ImportWorker, NewLead } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import { openAgain } from "../open.ts";
import { openWal, truncateWal } from "../wal.ts";

export interface Begin {
  readonly path: string;
  readonly account: AccountNumber;
  readonly options: ImportOptions;
}

/** Texts instead of many objects: that is what threads hand over fastest. */
export interface Group {
  /** All leads without their tails, as JSON. */
  readonly heads: string;
  /** The tails, a line each: JSON within JSON would be written and read a second time. */
  readonly tails: string;
  readonly nowMs: number;
}

/** The outcomes of a group as JSON. */
export type Reply = { readonly outcomes: string } | { readonly failure: string };

function pack(leads: readonly NewLead[], nowMs: number): Group {
  const heads = JSON.stringify(leads.map(({ tail: _, ...head }) => head));
  return { heads, tails: leads.map(({ tail }) => tail).join("\n"), nowMs };
}

/** The leads of a group; JSON that is written on one line has no other line breaks. */
export function unpack({ heads, tails }: Group): NewLead[] {
  const all: Omit<NewLead, "tail">[] = JSON.parse(heads);
  const lines = tails.split("\n");
  return all.map((head, place) => {
    const tail = lines[place];
    if (tail === undefined) throw new Error("a lead has lost its document on its way");
    return { ...head, tail };
  });
}

export function startImportWorker(begin: Begin): ImportWorker {
  const log = openWal(begin.path);
  const worker = new Worker(new URL("./import-worker.ts", import.meta.url));
  const waiting: PromiseWithResolvers<ImportOutcome[]>[] = [];
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    const asked = waiting.shift();
    if ("outcomes" in data) asked?.resolve(JSON.parse(data.outcomes));
    else asked?.reject(failed(data.failure));
  };
  worker.onerror = ({ message }) => waiting.shift()?.reject(failed(message));
  worker.postMessage(begin);
  // One after the other: what is counted is on the disk, and so is all that was counted before it.
  let synced: Promise<void> = Promise.resolve();
  async function fsync(): Promise<void> {
    try {
      await log.fsync();
    } catch (cause) {
      rescue(begin.path);
      throw failed(cause instanceof Error ? cause.message : "unknown error");
    }
  }
  return {
    async write(leads: readonly NewLead[], nowMs: number) {
      const asked = Promise.withResolvers<ImportOutcome[]>();
      waiting.push(asked);
      worker.postMessage(pack(leads, nowMs));
      const outcomes = await asked.promise;
      synced = synced.then(fsync);
      await synced;
      return outcomes;
    },
    close() {
      worker.terminate();
      log.close();
    },
  };
}

/** What the next run takes for imported has to be on the disk by then. */
function rescue(path: string): void {
  try {
    const database = openAgain(path);
    truncateWal(database);
    database.$client.close();
  } catch {
    // The disk fails still, which is said in any case; the command ends, and its connections with it.
  }
}

function failed(reason: string): StoreError {
  return new StoreError({ kind: "import cut short", reason });
}
