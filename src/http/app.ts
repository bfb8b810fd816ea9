/** The way of a request: host → gate → route → reply. */
import { Elysia } from "elysia";
import type { Logger } from "pino";
import { paths } from "../contract/paths.ts";
import type { Limiter } from "../limiter.ts";
import type { RequestStore } from "../store/serving.ts";
import { arrive, aVisit, callerOf, type Visit } from "./context.ts";
import { createFailing } from "./errors.ts";
import type { HostRule } from "./host.ts";
import { createLeadsAnswer } from "./leads.ts";
import { createJournal } from "./ops/access-log.ts";
import { type AddressOf, createMetrics } from "./ops/metrics.ts";
import { createPages } from "./pages.ts";
import { answerPixels } from "./pixels.ts";
import { createEntrance } from "./public-paths.ts";
import { answer } from "./reply.ts";
import { answerUsage } from "./usage.ts";

export interface AppParts extends HostRule {
  readonly store: RequestStore;
  readonly limiter: Limiter;
  readonly log: Logger;
  readonly now: () => number;
  /** Whether /metrics is for everybody, and not for this machine alone. */
  readonly publicMetrics: boolean;
  readonly addressOf: AddressOf;
}

export function createApp(parts: AppParts) {
  const { store, limiter, baseUrl, publicMetrics, addressOf } = parts;
  const metrics = createMetrics(limiter, store);
  const journal = createJournal(parts.log, metrics);
  const fail = createFailing(baseUrl, journal);
  const answerLeads = createLeadsAnswer(store);
  const enter = createEntrance(parts, journal, fail);
  const hide = { detail: { hide: true } };

  const answerWith = (make: (visit: Visit) => string | Uint8Array | Blob, { visit }: { readonly visit: Visit }) =>
    answer(visit, journal, { status: 200, body: make(visit) });
  // Elysia reads the text of a handler and awaits one that returns a call. A bound function has no text to read, and a
  // request stays in one synchronous step.
  const route = (make: (visit: Visit) => string | Uint8Array | Blob) => answerWith.bind(null, make);

  return new Elysia({ strictPath: true, handler: { standardHostname: false } })
    .decorate("visit", aVisit)
    .onRequest((context) => {
      context.visit = arrive(context.request, limiter.limit, parts.now());
      const refusal = enter(context.visit);
      return refusal === undefined ? undefined : refusal;
    })
    .onError(({ error, visit }) => fail(visit, error))
    .get(
      paths.leads,
      route((visit) => answerLeads(callerOf(visit).account, visit.search)),
      hide,
    )
    .get(
      paths.pixels,
      route((visit) => answerPixels(store, callerOf(visit).account, visit.search)),
      hide,
    )
    .get(
      paths.usage,
      route((visit) => answerUsage(store, visit)),
      hide,
    )
    .use(createPages({ baseUrl, limit: limiter.limit, store, publicMetrics, addressOf }, metrics, journal));
}
