/** The way of a request: listener → context → host → auth → route → reply. */
import { Elysia } from "elysia";
import { Registry } from "prom-client";
import { paths } from "../contract/paths.ts";
import type { AppParts } from "./app-parts.ts";
import { createAuth } from "./auth.ts";
import { createContext, type RequestContext, type WithContext } from "./context.ts";
import { describeOperations } from "./docs/openapi.ts";
import { createErrorReply } from "./errors.ts";
import { createHostCheck } from "./host.ts";
import { createLeadsAnswer } from "./leads.ts";
import { type Address, type Listener, startListener } from "./listener.ts";
import { addRequestMetrics, addSizeMetrics } from "./ops/metrics.ts";
import { checkPublic, createPages } from "./pages.ts";
import { answerPixels } from "./pixels.ts";
import { type Answer, createAccessLog, createReply } from "./reply.ts";
import { answerUsage } from "./usage.ts";

/** Listens on a port, with the app that is made of these parts. Throws what Bun throws when the port is taken. */
export function listen(
  address: Address,
  partsFor: (port: number) => Omit<AppParts, "addressOf">,
  lastCallMs?: number,
): Listener {
  const { server, ...listener } = startListener(address, {
    // No request is read before this function is done.
    answer: (request) => app.fetch(request),
    // A body is never read: whatever its size, the answer is about the method.
    largestBodyBytes: Number.MAX_SAFE_INTEGER,
    lastCallMs,
  });
  const addressOf = (request: Request) => server.requestIP(request)?.address;
  const app = createApp({ ...partsFor(listener.port), addressOf });
  return listener;
}

/** Makes the app: every route, behind the checks that each request passes. */
function createApp(parts: AppParts) {
  const { store, limiter, baseUrl } = parts;
  const metrics = new Registry();
  addSizeMetrics(metrics, parts);
  const accessLog = createAccessLog(parts.log, addRequestMetrics(metrics));
  const reply = createReply(accessLog);
  const ok = (context: RequestContext, body: Answer["body"]) => reply(context, { status: 200, body });
  const replyWithError = createErrorReply(baseUrl, reply);
  const auth = createAuth(parts);
  const redirect = createHostCheck(parts, auth, reply);
  const answerLeads = createLeadsAnswer(store);
  const operations = describeOperations(baseUrl, limiter.limit);

  return new Elysia<"", WithContext>({ strictPath: true, handler: { standardHostname: false } })
    .onRequest((elysia) => {
      const context = createContext(elysia.request, limiter.limit, parts.now());
      elysia.context = context;
      const redirection = redirect?.(context);
      if (redirection !== undefined) return redirection;
      if (context.isPublic) checkPublic(context);
      else auth.authorize(context);
      return undefined;
    })
    .onError(({ context, error }) => replyWithError(context, error))
    .get(paths.leads, ({ context }) => ok(context, answerLeads(context)), { detail: operations.leads })
    .get(paths.pixels, ({ context }) => ok(context, answerPixels(store.pixels, context)), { detail: operations.pixels })
    .get(paths.usage, ({ context }) => ok(context, answerUsage(store.usage, context)), { detail: operations.usage })
    .use(createPages(parts, metrics, accessLog));
}
