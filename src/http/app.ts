/** The way of a request: context → host → auth → route → reply. */
import { Elysia } from "elysia";
import { paths } from "../contract/paths.ts";
import type { AppParts } from "./app-parts.ts";
import { authorize } from "./auth.ts";
import { createContext, keyOf, type WithContext } from "./context.ts";
import { describeOperations } from "./docs/openapi.ts";
import { createErrorReply } from "./errors.ts";
import { createHostCheck } from "./host.ts";
import { createLeadsAnswer } from "./leads.ts";
import { createAccessLog } from "./ops/access-log.ts";
import { createMetrics } from "./ops/metrics.ts";
import { checkPublic, createPages } from "./pages.ts";
import { answerPixels } from "./pixels.ts";
import { createReply } from "./reply.ts";
import { answerUsage } from "./usage.ts";

/** Makes the app: every route, behind the checks that each request passes. */
export function createApp(parts: AppParts) {
  const { store, limiter, baseUrl } = parts;
  const metrics = createMetrics(parts);
  const accessLog = createAccessLog(parts.log, metrics);
  const reply = createReply(accessLog);
  const replyWithError = createErrorReply(baseUrl, reply);
  const redirect = createHostCheck(parts, reply);
  const answerLeads = createLeadsAnswer(store);
  const operations = describeOperations(baseUrl, limiter.limit);

  return new Elysia<"", WithContext>({ strictPath: true, handler: { standardHostname: false } })
    .onRequest((elysia) => {
      const context = createContext(elysia.request, limiter.limit, parts.now());
      elysia.context = context;
      const redirection = redirect(context);
      if (redirection !== undefined) return redirection;
      if (context.isPublic) checkPublic(context);
      else authorize(context, parts);
      return undefined;
    })
    .onError(({ context, error }) => replyWithError(context, error))
    .get(paths.leads, ({ context }) => reply(context, { status: 200, body: answerLeads(context) }), {
      detail: operations.leads,
    })
    .get(
      paths.pixels,
      ({ context }) =>
        reply(context, { status: 200, body: answerPixels(store.pixels, keyOf(context).account, context.search) }),
      { detail: operations.pixels },
    )
    .get(paths.usage, ({ context }) => reply(context, { status: 200, body: answerUsage(store.usage, context) }), {
      detail: operations.usage,
    })
    .use(createPages(parts, metrics, accessLog));
}
