/** The way of a request: host → gate → route → reply. */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import type { Logger } from "pino";
import { ApiError } from "../contract/errors.ts";
import { paths } from "../contract/limits.ts";
import type { Limiter } from "../limiter.ts";
import type { ReadStore } from "../store.ts";
import { docsPage } from "./docs.ts";
import { createFailing } from "./errors.ts";
import { isLive, passGate, present } from "./gate.ts";
import { answerHealth } from "./health.ts";
import { createHostCheck, type HostRule, type Redirection } from "./host.ts";
import { answerLeads } from "./leads.ts";
import { openApiDocument } from "./openapi.ts";
import { answerPixels } from "./pixels.ts";
import { answerUsage } from "./usage.ts";
import { answer, arrive, callerOf, logVisit, type Visit } from "./visit.ts";

export interface AppParts extends HostRule {
  readonly store: ReadStore;
  readonly limiter: Limiter;
  readonly log: Logger;
  readonly now: () => number;
}

/** Paths beside the API: no key, no limit. */
const besides: ReadonlySet<string> = new Set(["/", "/docs", "/openapi.json", "/healthz"]);

/** A watchdog that asks by address must not be sent elsewhere. */
const neverRedirected: ReadonlySet<string> = new Set(["/healthz", "/metrics"]);

export function createApp(parts: AppParts) {
  const { store, limiter, log, baseUrl } = parts;
  const redirectionOf = createHostCheck(parts);
  const fail = createFailing(baseUrl, log);
  const documentation = openApiDocument(baseUrl, limiter.limit);
  const docs = docsPage(baseUrl, limiter.limit);

  /** What can be said before routing; undefined lets the request go on to its route. */
  function receive(visit: Visit): Response | undefined {
    const { request, path } = visit;
    const redirection = neverRedirected.has(path) ? null : redirectionOf(request.headers);
    if (redirection !== null) return redirect(visit, redirection);
    if (path.startsWith("/docs/")) throw new ApiError("not_found", "There is nothing at this path; see /docs.");
    if (!besides.has(path)) return void passGate(visit, parts);
    if (request.method === "GET" || request.method === "HEAD") return undefined;
    return fail(visit, new ApiError("method_not_allowed", "This path takes GET and HEAD."), { Allow: "GET, HEAD" });
  }

  function redirect(visit: Visit, redirection: Redirection): Response {
    if (redirection === "plain http") warnOfExposedKey(visit);
    const url = baseUrl + visit.path + (visit.search === "" ? "" : `?${visit.search}`);
    const body = JSON.stringify({ object: "redirect", url });
    return answer(visit, log, { status: 308, headers: { Location: url }, body });
  }

  function warnOfExposedKey(visit: Visit): void {
    const presented = present(visit.request.headers.get("authorization"), store.keys);
    if (!isLive(presented)) return;
    log.warn(
      { key: presented.prefix, id: visit.id },
      "an API key crossed the network in the clear, over http; revoke it and make a new one",
    );
  }

  /** Answers a path beside the API. */
  function page(visit: Visit, status: number, type: string, body: string, headers: Record<string, string> = {}) {
    logVisit(visit, log, status);
    return new Response(body, {
      status,
      headers: { "Content-Type": type, "X-Content-Type-Options": "nosniff", "X-Request-Id": visit.id, ...headers },
    });
  }

  const ok = (visit: Visit, body: string) => answer(visit, log, { status: 200, body });
  const hide = { detail: { hide: true } };

  return (
    new Elysia({ strictPath: true, handler: { standardHostname: false } })
      // Every request gets a visit of its own in onRequest, before anything else can run.
      .decorate("visit", null as unknown as Visit)
      .onRequest((context) => {
        context.visit = arrive(context.request, limiter.limit, parts.now());
        return receive(context.visit);
      })
      .onError(({ error, visit }) => fail(visit, error))
      .get(paths.leads, ({ visit }) => ok(visit, answerLeads(store, callerOf(visit).account, visit.search)), hide)
      .get(paths.pixels, ({ visit }) => ok(visit, answerPixels(store, callerOf(visit).account, visit.search)), hide)
      .get(paths.usage, ({ visit }) => ok(visit, answerUsage(store, visit)), hide)
      .get("/", ({ visit }) => page(visit, 302, "text/plain", "See /docs\n", { Location: "/docs" }), hide)
      .get("/docs", ({ visit }) => page(visit, 200, "text/html; charset=utf-8", docs, docsHeaders), hide)
      .get(
        "/healthz",
        ({ visit }) => {
          const { status, body } = answerHealth(store);
          return page(visit, status, "application/json", body, { "Cache-Control": "no-store" });
        },
        hide,
      )
      .use(swagger({ path: "/docs/explorer", specPath: "/openapi.json", documentation }))
  );
}

/** The page needs nothing but itself, and says so to the browser. */
const docsHeaders = {
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
  "Referrer-Policy": "no-referrer",
};
