/** Sends requests, repeats those that may succeed later, and keeps to the limit. The key is kept here alone. */
import { readAnswer, unexpected } from "./answer.ts";
import { LeadfileError, RateLimitExceededError, SettingError } from "./errors.ts";
import { exchange } from "./exchange.ts";
import { createRateLimit } from "./rate-limit.ts";
import type { Settings } from "./settings.ts";

type Parameters = Readonly<Record<string, string | number | boolean | Date | undefined>>;

/** Gets a body, which `is` checks. */
export type Get = <Body>(
  path: string,
  is: (body: unknown) => body is Body,
  query: object,
  signal: AbortSignal | undefined,
) => Promise<Body>;

const firstBackoffMs = 500;
const longestBackoffMs = 30_000;

/** Every request is a GET, so it can be repeated; only errors that pass are worth it. */
export function connect(settings: Settings): Get {
  const { baseUrl, key, fetch, clock, timeoutMs, longestWaitMs } = settings;
  const rateLimit = createRateLimit(clock, longestWaitMs);
  const redact = (text: string) => text.replaceAll(key, "[key]");
  const headers = { Authorization: `Bearer ${key}`, Accept: "application/json" };

  async function once<Body>(url: URL, is: (body: unknown) => body is Body, signal: AbortSignal | undefined) {
    await rateLimit.wait(signal);
    const exchanged = await exchange(fetch, url, headers, { timeoutMs, signal });
    rateLimit.read(exchanged.response.headers);
    const body = readAnswer(exchanged, url.origin, redact);
    if (is(body)) return body;
    throw unexpected(exchanged.response, url.origin, "a body of another shape");
  }

  return async (path, is, query, signal) => {
    const url = new URL(`${baseUrl}${path}${search(query as Parameters)}`); // Every query is made of these.
    for (let failed = 0; ; failed++) {
      try {
        return await once(url, is, signal);
      } catch (error) {
        const waitMs = waitAfter(error, failed, settings);
        // All requests of the client wait for a new window, not this one alone.
        if (error instanceof RateLimitExceededError) rateLimit.pause(waitMs);
        else await clock.sleep(waitMs, signal);
      }
    }
  };
}

/** How long to wait before the request is sent again. Throws the error where that is of no use. */
function waitAfter(error: unknown, failed: number, { clock, retries, longestWaitMs }: Settings): number {
  if (!(error instanceof LeadfileError && error.transient) || failed >= retries) throw error;
  const backoffMs = Math.min(firstBackoffMs * 2 ** failed, longestBackoffMs);
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
