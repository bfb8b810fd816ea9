/** GET /api/v1/usage (§4.3): what the presented key has used, this call included. */
import { readNoQuery } from "../contract/query.ts";
import type { Usage } from "../contract/usage.ts";
import type { UsageCounter } from "../store/usage.ts";
import { keyOf, type RequestContext } from "./context.ts";

/** The body of the counts. Throws invalid_parameter for any parameter. */
export function answerUsage(counter: UsageCounter, context: RequestContext): string {
  readNoQuery(context.search);
  const counts = counter.of(keyOf(context).number, context.arrivedMs);
  const usage: Usage = {
    object: "usage",
    requests_today: counts.today,
    requests_this_month: counts.month,
    rate_limit_per_min: context.limit,
  };
  return JSON.stringify(usage);
}
