/** Sends requests, repeats those that can succeed later, and keeps to the limit. Only this file holds the key. */
import { LeadfileError, RateLimitExceededError, SettingError } from "./errors.ts";
import { exchange, readAnswer, unexpected, untilReset } from "./exchange.ts";
import type { Settings } from "./settings.ts";
import type { Clock } from "./time.ts";

type Parameters = Readonly<Record<string, string | number | boolean | Date | undefined>>;

/** Gets a body that `is` accepts. The options are the parameters of the query, and a signal. */
export type Get = <Body>(
  path: string,
  is: (body: unknown) => body is Body,
  options: { readonly signal?: AbortSignal | undefined },
) => Promise<Body>;

const firstBackoffMs = 500;
const maxBackoffMs = 30_000;

/** Returns a function that sends requests. Every request is a GET and can be repeated, after errors that pass. */
export function connect(settings: Settings): Get {
  const { baseUrl, key, fetch, clock, timeoutMs, longestWaitMs } = settings;
  const rateLimit = createRateLimit(clock, longestWaitMs);
  const redact = (text: string) => text.replaceAll(key, "[key]");
  const request = { method: "GET", headers: { Authorization: `Bearer ${key}`, Accept: "application/json" } };

  async function once<Body>(url: URL, is: (body: unknown) => body is Body, signal: AbortSignal | undefined) {
    await rateLimit.wait(signal);
    const exchanged = await exchange(fetch, url, request, { timeoutMs, signal });
    rateLimit.read(exchanged.response.headers);
    const body = readAnswer(exchanged, url.origin, redact);
    if (is(body)) return body;
    throw unexpected(exchanged.response, url.origin, "a body of another shape");
  }

  return async (path, is, { signal, ...query }) => {
    const url = new URL(`${baseUrl}${path}${search(query as Parameters)}`); // Every query is made of these.
    for (let failed = 0; ; failed++) {
      try {
        return await once(url, is, signal);
      } catch (error) {
        const waitMs = waitAfter(error, failed, settings);
        // All requests of the client wait for the next window, not only this one.
        if (error instanceof RateLimitExceededError) rateLimit.pause(waitMs);
        else await clock.sleep(waitMs, signal);
      }
    }
  };
}

/** Returns how long to wait before the request is repeated. Throws the error if repeating it does not help. */
function waitAfter(error: unknown, failed: number, { clock, retries, longestWaitMs }: Settings): number {
  if (!(error instanceof LeadfileError && error.transient) || failed >= retries) throw error;
  const backoffMs = Math.min(firstBackoffMs * 2 ** failed, maxBackoffMs);
  const waitMs = Math.max(backoffMs / 2 + (clock.random() * backoffMs) / 2, error.retryAfterMs ?? 0);
  if (waitMs > longestWaitMs) throw error;
  return waitMs;
}

function search(query: Parameters): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) pairs.append(name, value instanceof Date ? written(name, value) : String(value));
  }
  return pairs.size === 0 ? "" : `?${pairs}`;
}

function written(name: string, time: Date): string {
  if (Number.isNaN(time.getTime())) throw new SettingError(`${name} takes a Date that is a time; this one is invalid.`);
  return time.toISOString();
}

/** The limit per minute (§8): when it is used up, the next request waits for the end of the window. */
function createRateLimit(clock: Clock, longestWaitMs: number) {
  let openAtMs = Number.NEGATIVE_INFINITY;
  /** Holds all requests back for some time. */
  const pause = (ms: number) => {
    // Instead of a longer pause, the next request gets a 429, which the caller gets as an error.
    if (ms <= longestWaitMs) openAtMs = Math.max(openAtMs, clock.now() + ms);
  };
  return {
    pause,
    /** Waits until a request can be sent. */
    async wait(signal: AbortSignal | undefined) {
      for (let ms: number; (ms = openAtMs - clock.now()) > 0; ) await clock.sleep(ms, signal);
    },
    /** Reads from a response how many requests remain. */
    read(headers: Headers) {
      if (headers.get("x-ratelimit-remaining") === "0") pause(untilReset(headers) ?? 0);
    },
  };
}
