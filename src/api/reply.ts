/** The answer to a request of the API. */
import { windowMs } from "../contract/limits.ts";
import type { Call } from "./call.ts";
import type { AccessLog, Outcome } from "./ops/access-log.ts";

interface Answer extends Outcome {
  readonly body: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** Answers a request of the API. */
export type Reply = (call: Call, answer: Answer) => Response;

/**
 * Makes the function that answers with JSON and the headers of §8, whatever the status. The headers are on the Response:
 * Elysia copies a Response through its body stream if they are in `set.headers`.
 */
export function createReply(record: AccessLog): Reply {
  return (call, answer) => {
    record(call, answer);
    const headers = {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-RateLimit-Limit": String(call.limit),
      "X-RateLimit-Remaining": String(call.remaining),
      "X-RateLimit-Reset": String(windowEndSeconds(call.arrivedMs)),
      "X-Request-Id": call.id,
      ...answer.headers,
    };
    return new Response(answer.body, { status: answer.status, headers });
  };
}

/** Returns the Unix second at which the current window ends. */
function windowEndSeconds(nowMs: number): number {
  return (Math.floor(nowMs / windowMs) + 1) * (windowMs / 1000);
}
