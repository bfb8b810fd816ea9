/** Runs work on whole files in a thread: it takes minutes, and the main thread must react to signals and requests. */
import { UserError } from "../runtime/user-error.ts";

/** The acts of the thread, each the function of that name (file-worker.ts). */
export type Act = "applyRetentionAt" | "copyDatabase" | "drillBackup" | "listPlace" | "restoreBackup" | "upgradeCopy";

/** Asks the main thread whether to complete the work. Resolves if so; otherwise the thread is ended. */
export type Ask<Question> = (question: Question) => Promise<void>;

/** The messages of the thread: a question before the step that cannot be stopped, and its end. */
export type Reply =
  | { readonly question: unknown }
  | { readonly result: unknown }
  | { readonly refusal: readonly [what: string, advice: string] }
  | { readonly failure: string };

/** The function of an act. Its type is that of the request, the result, and the question, if it asks one. */
type ActFunction = (request: never, ask: never) => unknown;
type QuestionOf<Run> = Run extends (request: never, ask: Ask<infer Question>) => unknown ? Question : never;

/**
 * Runs an act. Before the step that cannot be stopped, `confirm` is called; what it throws stops the work, and is thrown.
 * So is the reason of the signal. The thread may be in SQLite until the process ends.
 */
export async function inThread<Run extends ActFunction>(
  act: Act,
  request: Parameters<Run>[0],
  stop = new AbortController().signal,
  confirm: (question: QuestionOf<Run>) => Promise<void> | void = () => {},
): Promise<Awaited<ReturnType<Run>>> {
  const worker = new Worker(new URL("./file-worker.ts", import.meta.url));
  // Until the thread is gone, a connection that it has closed may keep the file locked for the next process.
  const isGone = new Promise((resolve) => worker.addEventListener("close", resolve));
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Run>>>();
  const refuse = () => reject(stop.reason);
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    // The thread returns what the function of the act returns.
    if ("result" in data) resolve(data.result as Awaited<ReturnType<Run>>);
    else if ("refusal" in data) reject(new UserError(...data.refusal));
    else if ("failure" in data) reject(new Error(data.failure));
    // The thread asks what the act promises to ask.
    else
      Promise.try(confirm, data.question as QuestionOf<Run>).then(() => {
        if (stop.aborted) return;
        stop.removeEventListener("abort", refuse);
        worker.postMessage("complete the work");
      }, reject);
  };
  worker.onerror = ({ message }) => reject(new Error(message));
  stop.addEventListener("abort", refuse);
  if (stop.aborted) refuse();
  worker.postMessage([act, request]);
  const result = await promise.finally(() => worker.terminate());
  await isGone;
  return result;
}

/** Waits for work that knows no signal, and throws the reason of the signal as soon as it comes. */
export async function untilStopped<Result>(work: Promise<Result>, stop: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const refuse = () => reject(stop.reason);
  stop.addEventListener("abort", refuse);
  if (stop.aborted) refuse();
  return await Promise.race([work, promise]).finally(() => stop.removeEventListener("abort", refuse));
}
