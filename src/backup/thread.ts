/** Runs work on whole files in a thread: it takes minutes, and the main thread must react to signals and requests. */
import { UserError } from "../runtime/user-error.ts";

/** The acts of the thread. Each is the name of a function in file-worker.ts. */
export type Act = "applyRetentionAt" | "copyDatabase" | "drillBackup" | "restoreBackup" | "upgradeCopy";

/**
 * The functions of the main thread that an act calls and waits for. An error in `confirm` ends the act; after `confirm` has
 * returned, nothing stops the act. A UserError of any other function is thrown in the thread.
 */
type MainFunctions = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;

/** A message from the thread: a call of a function of the main thread, or the outcome of the act. */
export type Reply =
  | { readonly call: string; readonly args: readonly unknown[] }
  | { readonly result: unknown }
  | { readonly refusal: Refusal }
  | { readonly failure: string };
/** The answer to a call. */
export type Answer = { readonly value: unknown } | { readonly refusal: Refusal };
type Refusal = readonly [what: string, advice: string];

/** The function of an act. Its type has those of the request, the result, and the functions of the main thread. */
type ActFunction = (request: never, main: never) => unknown;

/**
 * Runs an act. Throws the error that ends it, or the reason of the signal. The thread may remain in SQLite until the process
 * ends.
 */
export async function inThread<Run extends ActFunction>(
  act: Act,
  request: Parameters<Run>[0],
  stop = new AbortController().signal,
  ...[main]: Parameters<Run> extends [unknown, infer Main extends object] ? [Main] : []
): Promise<Awaited<ReturnType<Run>>> {
  const worker = new Worker(new URL("./file-worker.ts", import.meta.url));
  // Until the thread is gone, a connection that it has closed may keep the file locked for the next process.
  const isGone = new Promise((resolve) => worker.addEventListener("close", resolve));
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Run>>>();
  const refuse = () => reject(stop.reason);
  const answer = (answered: Answer) => worker.postMessage(answered);

  async function call(name: string, args: readonly unknown[]): Promise<void> {
    const functions: MainFunctions = Object(main);
    try {
      const value = await functions[name]?.(...args);
      if (stop.aborted) return;
      if (name === "confirm") stop.removeEventListener("abort", refuse);
      answer({ value });
    } catch (cause) {
      if (name === "confirm" || !(cause instanceof UserError)) reject(cause);
      else answer({ refusal: [cause.message, cause.advice] });
    }
  }

  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    // The thread returns what the function of the act returns.
    if ("result" in data) resolve(data.result as Awaited<ReturnType<Run>>);
    else if ("refusal" in data) reject(new UserError(...data.refusal));
    else if ("failure" in data) reject(new Error(data.failure));
    else void call(data.call, data.args);
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
