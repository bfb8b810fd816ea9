/** The app: what every request passes, and all routes. */
import type { Server } from "bun";
import { Elysia } from "elysia";
import { Registry } from "prom-client";
import { createAdmission, createCredentialReader } from "./auth.ts";
import { Call, calls } from "./call.ts";
import { createErrorReply } from "./errors.ts";
import { createRedirect, type HostSettings } from "./host.ts";
import { leadRoute } from "./leads.ts";
import { type Address, type Listener, startListener } from "./listener.ts";
import { createAccessLog } from "./ops/access-log.ts";
import { addRequestMetrics, addSizeMetrics, type MetricSources } from "./ops/metrics.ts";
import { pixelRoute } from "./pixels.ts";
import { createPages } from "./public-pages.ts";
import { createReply } from "./reply.ts";
import { usageRoute } from "./usage.ts";

interface AppParts extends HostSettings, MetricSources {
  /** True if other machines may read /metrics. */
  readonly publicMetrics: boolean;
}

/** Listens on an address with the app that is made of the parts. Throws what Bun throws if the port is taken. */
export function listen(address: Address, partsFor: (port: number) => AppParts, lastCallMs?: number): Listener {
  const listener = startListener(address, {
    // No request is read before this function returns.
    answer: (request) => app.fetch(request),
    // A body is never read: whatever its size, the answer is about the method.
    maxBodyBytes: Number.MAX_SAFE_INTEGER,
    lastCallMs,
  });
  const app = createApp(partsFor(listener.port), listener.server);
  return listener;
}

/** Makes the app. Its stages give the order of errors in test/spec/7-precedence.test.ts: onRequest, parameters, handler. */
export function createApp(parts: AppParts, server: Pick<Server<undefined>, "requestIP">) {
  const { store, limiter, baseUrl, log } = parts;
  const metrics = new Registry();
  addSizeMetrics(metrics, parts);
  const accessLog = createAccessLog(log, addRequestMetrics(metrics));
  const reply = createReply(accessLog);
  const replyWithError = createErrorReply(baseUrl, reply);
  const readCredential = createCredentialReader(store);
  const redirect = createRedirect(parts, readCredential, reply);
  const admit = createAdmission(readCredential, limiter, store);

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
      if (!call.isPublic) context.key = admit(call);
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
    .use(createPages({ ...parts, server, metrics, accessLog, limitPerMin: limiter.limit }));
}
