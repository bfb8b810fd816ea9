/** The app: the checks that every request passes, in their order, and all routes. */
import type { Server } from "bun";
import { Elysia } from "elysia";
import { admit, createCredentialReader } from "./auth.ts";
import { respondWithError } from "./errors.ts";
import { createRedirect, type HostSettings } from "./host.ts";
import { leadRoute } from "./leads.ts";
import { createAccessLog } from "./ops/access-log.ts";
import { createMetrics, type MetricSources } from "./ops/metrics.ts";
import { pixelRoute } from "./pixels.ts";
import { createPages } from "./public-pages.ts";
import { RequestContext, requestContext } from "./request-context.ts";
import { usageRoute } from "./usage.ts";

/** The parts of the app: the store, the limiter, the clock, the log, and the settings. */
export interface AppParts extends HostSettings, MetricSources {
  /** True if other machines may read /metrics. */
  readonly publicMetrics: boolean;
  /** The token with which requests can read /metrics; null if METRICS_TOKEN is not set. */
  readonly metricsToken: string | null;
}

/**
 * Makes the app. The first check that fails determines the response, in this order (test/spec/7-precedence.test.ts):
 * 1. onRequest: the host (308), then the key, its limit, the path, and the method (auth.ts). A request with a live key
 *    counts, whatever its answer, unless that is a 429.
 * 2. the schema of the route: its parameters (400)
 * 3. the handler: the pixel (404)
 */
export function createApp(parts: AppParts, server: Pick<Server<undefined>, "requestIP">) {
  const { store, limiter, baseUrl } = parts;
  const metrics = createMetrics(parts);
  const record = createAccessLog(parts.log, metrics.countResponse);
  const readCredential = createCredentialReader(store);
  const redirect = createRedirect(parts, readCredential);

  return new Elysia({
    // A path with a trailing slash is unknown (404).
    strictPath: true,
    // Elysia would copy and clean the fields of responses, which are sent as they are stored.
    normalize: false,
    // Otherwise Elysia looks for the path only after the first 11 characters, and misses it behind a short host.
    handler: { standardHostname: false },
    // Otherwise a failed validation also creates a valid query. What it tells of the value never leaves api/errors.ts.
    allowUnsafeValidationDetails: true,
  })
    .use(requestContext)
    .onRequest((elysia) => {
      const context = new RequestContext(elysia.request, limiter.limit, parts.now(), record);
      elysia.context = context;
      const redirected = redirect(context);
      if (redirected !== null) return redirected;
      if (!context.isPublic) elysia.key = admit(context, readCredential(context), limiter, store);
      return undefined;
    })
    .onError(({ context, error, set }) => {
      // With any other status, Elysia copies the response through its body stream.
      set.status = 200;
      return respondWithError(context, error, baseUrl);
    })
    .use(leadRoute(store))
    .use(pixelRoute(store))
    .use(usageRoute(store))
    .use(createPages({ ...parts, server, metrics: metrics.registry, limitPerMin: limiter.limit }));
}
