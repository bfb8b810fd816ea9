/** The one way in which a request of the API is answered. */
import { windowEndSeconds } from "../limiter.ts";
import type { Journal, Outcome } from "./journal.ts";
import type { Visit } from "./visit.ts";

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

/** Answers a request of the API: JSON with the headers of §8, whatever the status. */
export function answer(visit: Visit, journal: Journal, given: Answer): Response {
  journal.record(visit, given);
  headers.set("X-RateLimit-Limit", String(visit.limit));
  headers.set("X-RateLimit-Remaining", String(visit.remaining));
  headers.set("X-RateLimit-Reset", String(windowEndSeconds(visit.arrivedMs)));
  headers.set("X-Request-Id", visit.id);
  const response = new Response(given.body, { status: given.status, headers });
  for (const [name, value] of Object.entries(given.headers ?? {})) response.headers.set(name, value);
  return response;
}
