/** Runs work on whole files in a thread: it takes minutes, and the main thread hears signals in the meantime. */
import { UserError } from "../user-error.ts";

/** Starts to listen for what may stop the work. */
export type Listen = () => AbortSignal;

/** What the thread sends: a question before the step that cannot be stopped, and its end. */
export type Reply =
  | { readonly question: unknown }
  | { readonly result: unknown }
  | { readonly refusal: readonly [what: string, advice: string] }
  | { readonly failure: string };

/** Decided once, by whichever thread is first: 1 to complete the work, 2 to stop it. */
export type Verdict = Int32Array<SharedArrayBuffer>;
const [goOn, stop] = [1, 2];

/** Asks the main thread whether to complete the work, and waits for its verdict; throws when that is to stop. */
export function createQuestion(verdict: Verdict, send: (question: unknown) => void): (question: unknown) => void {
  return (question) => {
    send(question);
    Atomics.wait(verdict, 0, 0);
    if (Atomics.load(verdict, 0) === stop) throw new Error("the work was stopped");
  };
}

function decide(verdict: Verdict, decision: number): boolean {
  const isFirst = Atomics.compareExchange(verdict, 0, 0, decision) === 0;
  Atomics.notify(verdict, 0);
  return isFirst;
}

/** The acts of the thread, each the function of that name (backup-worker.ts). */
export type Act = "copyDatabase" | "drillBackup" | "restoreBackup" | "upgradeCopy";

/**
 * Runs an act. Before the step that cannot be stopped, `confirm` is called; what it throws stops the work, and is thrown.
 * So is the reason of the signal. The thread may be in SQLite until the process ends.
 */
export async function inThread<Result, Question = null>(
  act: Act,
  request: object,
  listen: Listen,
  confirm: (question: Question) => Promise<void> | void = () => {},
): Promise<Result> {
  const worker = new Worker(new URL("./backup-worker.ts", import.meta.url));
  // Until the thread is gone, a connection that it has closed may keep the file locked for whoever comes next.
  const isGone = new Promise((resolve) => worker.addEventListener("close", resolve));
  const verdict: Verdict = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const refuse = (cause: unknown) => decide(verdict, stop) && reject(cause);
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    if ("result" in data) resolve(data.result);
    else if ("refusal" in data) reject(new UserError(...data.refusal));
    else if ("failure" in data) reject(new Error(data.failure));
    // The thread asks what the act promises to ask.
    else Promise.try(confirm, data.question as Question).then(() => decide(verdict, goOn), refuse);
  };
  worker.onerror = ({ message }) => reject(new Error(message));
  const signal = listen();
  signal.addEventListener("abort", () => refuse(signal.reason));
  worker.postMessage([act, request, verdict]);
  const result = await promise.finally(() => worker.terminate());
  await isGone;
  return result as Result; // The thread returns what the function of the act returns.
}
