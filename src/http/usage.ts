/** GET /api/v1/usage (§4.3): what the presented key has used, this call included. */
import { readNoQuery } from "../contract/parameters.ts";
import type { Usage } from "../contract/usage.ts";
import type { RequestStore } from "../store/serving.ts";
import { callerOf, type Visit } from "./context.ts";

/** The body of the counts. Throws invalid_parameter for any parameter. */
export function answerUsage(store: RequestStore, visit: Visit): string {
  readNoQuery(visit.search);
  const counts = store.usage.of(callerOf(visit).number, visit.arrivedMs);
  const usage: Usage = {
    object: "usage",
    requests_today: counts.today,
    requests_this_month: counts.month,
    rate_limit_per_min: visit.limit,
  };
  return JSON.stringify(usage);
}
