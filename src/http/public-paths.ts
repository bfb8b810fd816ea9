/** What is said to a request before it is routed: the right address (§1), then the gate for all that is of the API. */
import { ApiError } from "../contract/errors.ts";
import { type GateParts, isLive, passGate, present } from "./auth.ts";
import type { Visit } from "./context.ts";
import { explorerAssets } from "./docs/explorer.ts";
import type { Failing } from "./errors.ts";
import { createHostCheck, type HostRule, type Redirection } from "./host.ts";
import type { Journal } from "./ops/access-log.ts";
import { answer } from "./reply.ts";

/** Paths beside the API: no key, no limit. */
export const besides: ReadonlySet<string> = new Set([
  "/",
  "/docs",
  ...Object.keys(explorerAssets),
  "/openapi.json",
  "/healthz",
  "/metrics",
]);

/** A watchdog that asks by address must not be sent elsewhere. */
const neverRedirected: ReadonlySet<string> = new Set(["/healthz", "/metrics"]);

/** Answers a request that goes no further, lets it on to its route with undefined, or throws its refusal. */
export type Entrance = (visit: Visit) => Response | undefined;

export function createEntrance(parts: GateParts & HostRule, journal: Journal, fail: Failing): Entrance {
  const redirectionOf = createHostCheck(parts);

  function redirect(visit: Visit, redirection: Redirection): Response {
    if (redirection === "plain http") warnOfExposedKey(visit);
    const url = parts.baseUrl + visit.path + (visit.search === "" ? "" : `?${visit.search}`);
    const body = JSON.stringify({ object: "redirect", url });
    return answer(visit, journal, { status: 308, headers: { Location: url }, body });
  }

  function warnOfExposedKey(visit: Visit): void {
    const presented = present(visit.request.headers.get("authorization"), parts.store);
    if (isLive(presented, visit.arrivedMs)) journal.warnOfExposedKey(visit, presented.prefix);
  }

  return (visit) => {
    const { request, path } = visit;
    const redirection = neverRedirected.has(path) ? null : redirectionOf(request.headers);
    if (redirection !== null) return redirect(visit, redirection);
    const underDocs = path.startsWith("/docs/") && !besides.has(path);
    if (!besides.has(path) && !underDocs) return void passGate(visit, parts);
    if (request.method === "GET" || request.method === "HEAD") {
      if (underDocs) throw new ApiError("not_found", "There is nothing at this path; see /docs.");
      return undefined;
    }
    return fail(visit, new ApiError("method_not_allowed", "This path takes GET and HEAD."), { Allow: "GET, HEAD" });
  };
}
