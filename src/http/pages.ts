/** What stands beside the API: the docs, the description, health and metrics. No key, no limit. */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { ApiError } from "../contract/errors.ts";
import type { ReadStore } from "../store/reading.ts";
import { aVisit, type Visit } from "./context.ts";
import { explorerAssets } from "./docs/explorer.ts";
import { openApiDocument } from "./docs/openapi.ts";
import { docsHeaders, docsPage } from "./docs/page.ts";
import type { Journal } from "./ops/access-log.ts";
import { answerHealth } from "./ops/health.ts";
import { type AddressOf, isFromHere, type Metrics } from "./ops/metrics.ts";

export interface PageParts {
  /** The public origin. */
  readonly baseUrl: string;
  readonly limit: number;
  readonly store: ReadStore;
  /** Whether /metrics is for everybody, and not for this machine alone. */
  readonly publicMetrics: boolean;
  readonly addressOf: AddressOf;
}

const hide = { detail: { hide: true } };

export function createPages(
  { baseUrl, limit, store, publicMetrics, addressOf }: PageParts,
  metrics: Metrics,
  journal: Journal,
) {
  const documentation = openApiDocument(baseUrl, limit);
  let docs: string | null = null;
  // Not at the start: it takes as long as a hundred answers.
  const docsOnce = () => (docs ??= docsPage(baseUrl, limit));

  function page(
    visit: Visit,
    status: number,
    body: string | Blob,
    headers: Readonly<Record<string, string>>,
  ): Response {
    journal.record(visit, { status });
    return new Response(body, {
      status,
      headers: { "X-Content-Type-Options": "nosniff", "X-Request-Id": visit.id, ...headers },
    });
  }

  const explorer = new Elysia().decorate("visit", aVisit);
  for (const [path, { headers, body }] of Object.entries(explorerAssets)) {
    explorer.get(path, ({ visit }) => page(visit, 200, body, headers), hide);
  }

  return (
    new Elysia()
      .decorate("visit", aVisit)
      .get(
        "/",
        ({ visit }) => page(visit, 302, "See /docs\n", { "Content-Type": "text/plain", Location: "/docs" }),
        hide,
      )
      .get("/docs", ({ visit }) => page(visit, 200, docsOnce(), docsHeaders), hide)
      .use(explorer)
      .get("/healthz", ({ visit }) => page(visit, ...answerHealth(store)), hide)
      .get(
        "/metrics",
        async ({ visit }) => {
          const { request } = visit;
          if (!publicMetrics && !isFromHere(addressOf(request), request.headers)) {
            throw new ApiError("not_found", "This path is for the machine itself; METRICS=public opens it to others.");
          }
          const { text, mediaType } = await metrics.write();
          return page(visit, 200, text, { "Content-Type": mediaType, "Cache-Control": "no-store" });
        },
        hide,
      )
      // The page that the plugin makes loads from another host; the entrance lets nobody there.
      .use(swagger({ path: "/docs/plugin", specPath: "/openapi.json", documentation }))
  );
}
