/** GET /api/v1/usage (§4.3): the requests of the presented key, this one included. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { errorResponses } from "../contract/errors.ts";
import { paths } from "../contract/paths.ts";
import { Usage } from "../contract/usage.ts";
import { usageExamples } from "./docs/examples.ts";
import { strictQuery } from "./query.ts";
import { requestContext } from "./request-context.ts";
import type { RequestStore } from "./request-store.ts";

/** Makes the route. The counts include requests that are not in the database yet. */
export function usageRoute({ usage }: RequestStore) {
  return new Elysia().use(requestContext).get(
    paths.usage,
    ({ context, key }) => {
      const { today, month } = usage.of(key.number, context.arrivedMs);
      const counts: Usage = {
        object: "usage",
        requests_today: today,
        requests_this_month: month,
        rate_limit_per_min: context.limit,
      };
      return context.respondJson({ status: 200, body: JSON.stringify(counts) });
    },
    {
      ...strictQuery(Type.Object({})),
      response: { 200: Usage, ...errorResponses },
      detail: {
        "x-examples": usageExamples,
        operationId: "getUsage",
        tags: ["Usage"],
        summary: "Count the requests of this key",
        description: "Returns the requests of the presented key in the current UTC day and month, this one included.",
      },
    },
  );
}
