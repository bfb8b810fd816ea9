/** The one way in which a request of the API is answered. */
import { windowEndSeconds } from "../limiter.ts";
import type { Journal, Outcome } from "./journal.ts";
import type { Visit } from "./visit.ts";

export interface Answer extends Outcome {
  readonly body: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** Answers a request of the API: JSON with the headers of §8, whatever the status. */
export function answer(visit: Visit, journal: Journal, given: Answer): Response {
  journal.record(visit, given);
  return new Response(given.body, {
    status: given.status,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-RateLimit-Limit": String(visit.limit),
      "X-RateLimit-Remaining": String(visit.remaining),
      "X-RateLimit-Reset": String(windowEndSeconds(visit.arrivedMs)),
      "X-Request-Id": visit.id,
      ...given.headers,
    },
  });
}
