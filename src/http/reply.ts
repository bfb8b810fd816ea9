/** The one way in which a request of the API is answered. */
import { windowMs } from "../contract/limits.ts";
import type { RequestContext } from "./context.ts";
import type { AccessLog, Outcome } from "./ops/access-log.ts";

export interface Answer extends Outcome {
  readonly body: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

export type Reply = (context: RequestContext, answer: Answer) => Response;

/** Answers with JSON and the headers of §8, whatever the status. */
export function createReply(accessLog: AccessLog): Reply {
  return (context, answer) => {
    accessLog(context, answer);
    const headers = {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-RateLimit-Limit": String(context.limit),
      "X-RateLimit-Remaining": String(context.remaining),
      "X-RateLimit-Reset": String(windowEndSeconds(context.arrivedMs)),
      "X-Request-Id": context.id,
      ...answer.headers,
    };
    return new Response(answer.body, { status: answer.status, headers });
  };
}

/** The Unix second at which the window of a moment ends. */
function windowEndSeconds(nowMs: number): number {
  return (Math.floor(nowMs / windowMs) + 1) * (windowMs / 1000);
}
