/** Sends requests, repeats those that can succeed later, and keeps to the limit. Only this file holds the key. */
import { type LeadfileError, RateLimitExceededError } from "./errors.ts";
import { exchange, readAnswer, transientOf, unexpected, untilReset } from "./exchange.ts";
import type { Settings } from "./settings.ts";
import { toTime } from "./time.ts";

type Parameters = Readonly<Record<string, string | number | boolean | Date | undefined>>;

export type Get = ReturnType<typeof connect>;

/** A body, with the headers of its response. */
export interface Got<Body> {
  readonly body: Body;
  readonly headers: Headers;
}

const firstBackoffMs = 500;
const maxBackoffMs = 30_000;

/** Returns a function that sends requests. Every request is a GET and can be repeated, after errors that pass. */
export function connect(settings: Settings) {
  const { baseUrl, key, fetch, clock, timeoutMs, maxWaitMs, onRetry } = settings;
  /** The time from which requests are sent again: the limit per minute (§8) is used up until then. */
  let openAtMs = Number.NEGATIVE_INFINITY;
  /** True if a pause began that nobody was told of. */
  let isSilent = false;

  /** Pauses all requests. If the pause would be too long, the next request gets a 429 and throws. */
  function pause(ms: number): void {
    if (ms <= maxWaitMs) openAtMs = Math.max(openAtMs, clock.now() + ms);
  }

  async function once(url: URL, isSound: (body: object) => boolean, signal: AbortSignal | undefined) {
    for (let waitMs: number; (waitMs = openAtMs - clock.now()) > 0; ) {
      if (isSilent) onRetry?.({ error: null, attempt: 0, waitMs });
      isSilent = false;
      await clock.sleep(waitMs, signal);
    }
    const secret = await key();
    const headersSent = { Authorization: `Bearer ${secret}`, Accept: "application/json" };
    const exchanged = await exchange(fetch, url, { method: "GET", headers: headersSent }, { timeoutMs, signal });
    const { headers } = exchanged.response;
    if (headers.get("x-ratelimit-remaining") === "0") {
      pause(untilReset(headers) ?? 0);
      isSilent = true;
    }
    const body = readAnswer(exchanged, url.origin, (text) => text.replaceAll(secret, "[key]"));
    if (isSound(body)) return { body, headers };
    throw unexpected(exchanged.response, url.origin, "a body of another shape");
  }

  /** Gets a body with this `object` that is sound. The options are the parameters of the query, and a signal. */
  return async <Body extends { object: string }>(
    path: string,
    object: Body["object"],
    { signal, ...query }: { readonly signal?: AbortSignal | undefined },
    isSound: (body: Body) => boolean = () => true,
  ): Promise<Got<Body>> => {
    const isWanted = (body: Partial<Body>) => body.object === object && isSound(body as Body); // It checks the fields.
    const url = new URL(`${baseUrl}${path}${search(query as Parameters)}`); // Every query is made of these.
    for (let failed = 0; ; failed++) {
      try {
        return (await once(url, isWanted, signal)) as Got<Body>; // isWanted has checked it.
      } catch (cause) {
        const error = transientOf(cause);
        const waitMs = waitAfter(error, failed, settings);
        onRetry?.({ error, attempt: failed + 1, waitMs });
        isSilent = false;
        // All requests of the client wait for the next window, not only this one.
        if (error instanceof RateLimitExceededError) pause(waitMs);
        else await clock.sleep(waitMs, signal);
      }
    }
  };
}

/** Returns how long to wait before the request is repeated. Throws the error if that is too often or too long. */
function waitAfter(error: LeadfileError, failed: number, { clock, retries, maxWaitMs }: Settings): number {
  if (failed >= retries) throw error;
  const backoffMs = Math.min(firstBackoffMs * 2 ** failed, maxBackoffMs);
  const waitMs = Math.max(backoffMs / 2 + (clock.random() * backoffMs) / 2, error.retryAfterMs ?? 0);
  if (waitMs > maxWaitMs) throw error;
  return waitMs;
}

function search(query: Parameters): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    const isTime = value instanceof Date || name === "since" || name === "before";
    pairs.append(name, isTime && typeof value !== "boolean" ? toTime(name, value) : String(value));
  }
  return pairs.size === 0 ? "" : `?${pairs}`;
}
