/** The way of a request: host → gate → route → reply. */
import { Elysia } from "elysia";
import type { Logger } from "pino";
import { paths } from "../contract/limits.ts";
import type { Limiter } from "../limiter.ts";
import type { ReadStore } from "../store.ts";
import { createEntrance } from "./entrance.ts";
import { createFailing } from "./errors.ts";
import type { HostRule } from "./host.ts";
import { createJournal } from "./journal.ts";
import { answerLeads } from "./leads.ts";
import { createMetrics } from "./metrics.ts";
import { createPages } from "./pages.ts";
import { answerPixels } from "./pixels.ts";
import { answer } from "./reply.ts";
import { answerUsage } from "./usage.ts";
import { arrive, aVisit, callerOf, type Visit } from "./visit.ts";

export interface AppParts extends HostRule {
  readonly store: ReadStore;
  readonly limiter: Limiter;
  readonly log: Logger;
  readonly now: () => number;
  /** Whether /metrics is for everybody, and not for this machine alone. */
  readonly publicMetrics: boolean;
}

export function createApp(parts: AppParts) {
  const { store, limiter, baseUrl, publicMetrics } = parts;
  const metrics = createMetrics(limiter, store);
  const journal = createJournal(parts.log, metrics);
  const fail = createFailing(baseUrl, journal);
  const enter = createEntrance(parts, journal, fail);
  const ok = (visit: Visit, body: string) => answer(visit, journal, { status: 200, body });
  const hide = { detail: { hide: true } };

  return new Elysia({ strictPath: true, handler: { standardHostname: false } })
    .decorate("visit", aVisit)
    .onRequest((context) => {
      context.visit = arrive(context.request, limiter.limit, parts.now());
      return enter(context.visit);
    })
    .onError(({ error, visit }) => fail(visit, error))
    .get(paths.leads, ({ visit }) => ok(visit, answerLeads(store, callerOf(visit).account, visit.search)), hide)
    .get(paths.pixels, ({ visit }) => ok(visit, answerPixels(store, callerOf(visit).account, visit.search)), hide)
    .get(paths.usage, ({ visit }) => ok(visit, answerUsage(store, visit)), hide)
    .use(createPages({ baseUrl, limit: limiter.limit, store, publicMetrics }, metrics, journal));
}
