/** The app: the checks that every request passes, in their order, and all routes. */
import type { Server } from "bun";
import { Elysia } from "elysia";
import { plainError } from "../contract/errors.ts";
import type { KnownKey } from "../db/reader.ts";
import { type Credential, createCredentialReader } from "./auth.ts";
import { Call, calls } from "./call.ts";
import { createErrorReply } from "./errors.ts";
import { createRedirect, type HostSettings } from "./host.ts";
import { leadRoute } from "./leads.ts";
import { createMetrics, type MetricSources } from "./ops/metrics.ts";
import { pixelRoute } from "./pixels.ts";
import { createPages } from "./public-pages.ts";
import { createAccessLog, createReply } from "./reply.ts";
import { usageRoute } from "./usage.ts";

export interface AppParts extends HostSettings, MetricSources {
  /** True if other machines may read /metrics. */
  readonly publicMetrics: boolean;
}

/**
 * Makes the app. The first check that fails determines the response, in this order (test/spec/7-precedence.test.ts):
 * 1. onRequest: the host (308), then `admit`
 * 2. the schema of the route: its parameters (400)
 * 3. the handler: the pixel (404)
 */
export function createApp(parts: AppParts, server: Pick<Server<undefined>, "requestIP">) {
  const { store, limiter, baseUrl, log } = parts;
  const metrics = createMetrics(parts);
  const accessLog = createAccessLog(log, metrics);
  const reply = createReply(accessLog);
  const replyWithError = createErrorReply(baseUrl, reply);
  const readCredential = createCredentialReader(store);
  const redirect = createRedirect(parts, readCredential, reply);

  return new Elysia({
    strictPath: true,
    normalize: false,
    handler: { standardHostname: false },
    // Otherwise a failed validation also creates a valid query. What it tells of the value never leaves api/errors.ts.
    allowUnsafeValidationDetails: true,
  })
    .use(calls)
    .onRequest((context) => {
      const call = new Call(context.request, limiter.limit, parts.now());
      context.call = call;
      const redirected = redirect(call);
      if (redirected !== null) return redirected;
      if (!call.isPublic) context.key = admit(call, readCredential(call), parts);
      return undefined;
    })
    .onError(({ call, error, set }) => {
      // With any other status, Elysia copies the response through its body stream.
      set.status = 200;
      return replyWithError(call, error);
    })
    .use(leadRoute(store, reply))
    .use(pixelRoute(store, reply))
    .use(usageRoute(store, reply))
    .use(createPages({ ...parts, server, metrics: metrics.registry, accessLog, limitPerMin: limiter.limit }));
}

/**
 * Checks a request of the API in the order of the lines, and returns its key. Throws the error of the first check that
 * fails. A request with a live key counts, unless its limit is used up.
 */
function admit(call: Call, credential: Credential, { limiter, store }: AppParts): KnownKey {
  if (typeof credential !== "string") {
    call.key = credential;
    const { allowed, remaining } = limiter.hit(credential.number, call.arrivedMs, call.startedNs / 1e6);
    call.remaining = remaining;
    if (!allowed) throw plainError("rate_limit_exceeded");
    store.usage.count(credential.number, call.arrivedMs);
  }
  if (call.route === null) throw plainError("not_found");
  if (call.request.method !== "GET") throw plainError("method_not_allowed");
  if (typeof credential === "string") throw plainError(credential);
  if (!credential.subscribed) throw plainError("subscription_required");
  return credential;
}
