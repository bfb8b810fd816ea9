/** Sends one request and reads its whole response, within a timeout. An abort ends it immediately. */
import { NetworkError, TimeoutError } from "./errors.ts";

/** The part of fetch that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Exchanged {
  readonly response: Response;
  readonly text: string;
}

/**
 * Throws a NetworkError, a TimeoutError, or the reason of the signal. The error of fetch is not passed on: in some runtimes
 * it contains the request, and with it the key.
 */
export async function exchange(
  fetch: Fetch,
  url: URL,
  headers: Readonly<Record<string, string>>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<Exchanged> {
  signal?.throwIfAborted();
  const cancel = new AbortController();
  const { promise: stopped, reject: stop } = deferred();
  const abort = () => stop(signal?.reason);
  const late = () => stop(new TimeoutError(`${url.origin} gave no whole answer within ${timeoutMs} ms.`));
  signal?.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(late, timeoutMs);
  const asked = ask(fetch, url, { method: "GET", headers, redirect: "manual", signal: cancel.signal });
  try {
    return await Promise.race([asked, stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    // After a timeout or an abort, the request itself still runs.
    cancel.abort();
  }
}

async function ask(fetch: Fetch, url: URL, init: RequestInit): Promise<Exchanged> {
  try {
    const response = await fetch(url.href, init);
    return { response, text: await response.text() };
  } catch (cause) {
    const reason = codeOf(cause);
    const why = reason === null ? "" : ` (${reason})`;
    throw new NetworkError(`${url.origin} was not reached, or the connection broke${why}.`, reason);
  }
}

/** Returns the code of the system, which Node puts into the cause. */
function codeOf(cause: unknown): string | null {
  if (!(cause instanceof Error)) return null;
  const code = "code" in cause ? cause.code : null;
  if (typeof code === "string" && /^[A-Za-z_]{1,40}$/.test(code)) return code;
  return codeOf(cause.cause);
}

/** A promise for a race, which can only reject. */
function deferred(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<never>((_, fail) => {
    reject = fail;
  });
  return { promise, reject };
}
