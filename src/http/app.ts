/** The way of a request: context → host → auth → route → reply. */
import { Elysia } from "elysia";
import type { Logger } from "pino";
import { paths } from "../contract/paths.ts";
import type { Limiter } from "../limiter.ts";
import type { RequestStore } from "../store/serving.ts";
import { authorize } from "./auth.ts";
import { createContext, keyOf, type WithContext } from "./context.ts";
import { describeOperations } from "./docs/openapi.ts";
import { createErrorReply } from "./errors.ts";
import { createHostCheck } from "./host.ts";
import { createLeadsAnswer } from "./leads.ts";
import { createAccessLog } from "./ops/access-log.ts";
import { type AddressOf, createMetrics, type Inflow } from "./ops/metrics.ts";
import { checkPublic, createPages } from "./pages.ts";
import { answerPixels } from "./pixels.ts";
import { createReply } from "./reply.ts";
import { answerUsage } from "./usage.ts";

export interface AppParts {
  readonly store: RequestStore;
  readonly limiter: Limiter;
  readonly log: Logger;
  readonly now: () => number;
  /** The public origin, such as https://www.example.com. */
  readonly baseUrl: string;
  /** Whether X-Forwarded-Host and X-Forwarded-Proto are those of a proxy that we trust. */
  readonly trustProxy: boolean;
  /** Whether /metrics is for everybody, and not for this machine alone. */
  readonly publicMetrics: boolean;
  readonly addressOf: AddressOf;
  /** What came in and was not imported yet, for /metrics. */
  readonly inflow: () => Inflow;
}

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
    .use(createPages({ ...parts, limit: limiter.limit, metrics, accessLog }));
}
