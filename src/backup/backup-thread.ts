/** Work on backups, in a thread of its own: it takes minutes, and the thread that waits for it hears signals. */
import type { Listen } from "../store/backups.ts";
import { type Problem, StoreError } from "../store/errors.ts";

/** What the thread is handed. */
export type BackupWork =
  | { readonly act: "make"; readonly path: string; readonly file: string; readonly nowMs: number }
  | { readonly act: "drill"; readonly file: string; readonly folder: string }
  | {
      readonly act: "restore";
      readonly path: string;
      readonly file: string;
      readonly receipts: string | null;
      readonly nowMs: number;
    };

/** What the thread says at its end. */
export type BackupReply<Result> =
  | { readonly result: Result }
  | { readonly problem: Problem }
  | { readonly failure: string };

/** The end of the work, which either thread decides: it is completed, or stopped. */
export type Ending = Int32Array<SharedArrayBuffer>;

/** False where the other thread has decided before. */
export function decide(ending: Ending): boolean {
  return Atomics.compareExchange(ending, 0, 0, 1) === 0;
}

/** Throws the reason of the signal where that stops the work. The thread may be in SQLite until the process ends. */
export async function workInThread<Result>(work: BackupWork, listen: Listen): Promise<Result> {
  const worker = new Worker(new URL("./backup-worker.ts", import.meta.url));
  // Until the thread is gone, a connection that it has closed may keep the file locked for whoever comes next.
  const isGone = new Promise((resolve) => worker.addEventListener("close", resolve));
  const reply = await replyOf<Result>(worker, work, listen).finally(() => worker.terminate());
  await isGone;
  if ("problem" in reply) throw new StoreError(reply.problem);
  if ("failure" in reply) throw new Error(reply.failure);
  return reply.result;
}

function replyOf<Result>(worker: Worker, work: BackupWork, listen: Listen): Promise<BackupReply<Result>> {
  const ending: Ending = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<BackupReply<Result>>) => resolve(data);
    worker.onerror = ({ message }) => resolve({ failure: message });
    const signal = listen();
    signal.addEventListener("abort", () => decide(ending) && reject(signal.reason));
    worker.postMessage([work, ending]);
  });
}
