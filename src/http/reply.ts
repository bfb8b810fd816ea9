/** The one way in which a request of the API is answered. */
import { windowEndSeconds } from "../limiter.ts";
import type { Visit } from "./context.ts";
import type { Journal, Outcome } from "./ops/access-log.ts";

export interface Answer extends Outcome {
  readonly body: string | Uint8Array | Blob;
  readonly headers?: Record<string, string>;
}

/** What all answers have; the rest is put in before each one. Made anew each time, it cost a tenth of a request. */
const headers = new Headers({
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
});

const put = new Map<string, string>();

/** Puts a header in, unless it has that value from the answer before. */
function setHeader(name: string, value: string): void {
  if (put.get(name) === value) return;
  put.set(name, value);
  headers.set(name, value);
}

/** Answers a request of the API: JSON with the headers of §8, whatever the status. */
export function answer(visit: Visit, journal: Journal, given: Answer): Response {
  journal.record(visit, given);
  setHeader("X-RateLimit-Limit", String(visit.limit));
  setHeader("X-RateLimit-Remaining", String(visit.remaining));
  setHeader("X-RateLimit-Reset", String(windowEndSeconds(visit.arrivedMs)));
  headers.set("X-Request-Id", visit.id);
  const response = new Response(given.body, { status: given.status, headers });
  for (const [name, value] of Object.entries(given.headers ?? {})) response.headers.set(name, value);
  return response;
}
