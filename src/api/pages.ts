/** What stands beside the API: the docs, the description, health and metrics. No key, no limit. */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import type { Registry } from "prom-client";
import { ApiError } from "../contract/errors.ts";
import { publicPaths } from "../contract/paths.ts";
import type { AppParts, PublicAnswer } from "./app-parts.ts";
import type { RequestContext, WithContext } from "./context.ts";
import { explorerAssets } from "./docs/explorer.ts";
import { describeApi } from "./docs/openapi.ts";
import { docsHeaders, docsPage } from "./docs/page.ts";
import { answerHealth } from "./ops/health.ts";
import { answerMetrics } from "./ops/metrics.ts";
import type { AccessLog } from "./reply.ts";

/** These are no operations of the API. */
const hide = { detail: { hide: true } };

/** Makes the routes of the pages. */
export function createPages(parts: AppParts, metrics: Registry, accessLog: AccessLog) {
  const { baseUrl, store, adminCommand } = parts;
  const { limit } = parts.limiter;
  const send = (context: RequestContext, { status, body, headers }: PublicAnswer) => {
    accessLog(context, { status });
    const always = { "X-Content-Type-Options": "nosniff", "X-Request-Id": context.id };
    return new Response(body, { status, headers: { ...always, ...headers } });
  };
  let docs: string | null = null;
  // Made at the first request: it takes as long as a hundred answers.
  const docsOnce = () => (docs ??= docsPage(baseUrl, limit, adminCommand));

  const pages = new Elysia<"", WithContext>()
    .get(publicPaths.root, ({ context }) => send(context, toDocs), hide)
    .get(
      publicPaths.docs,
      ({ context }) => send(context, { status: 200, body: docsOnce(), headers: docsHeaders }),
      hide,
    )
    .get(publicPaths.health, ({ context }) => send(context, answerHealth(store)), hide)
    .get(
      publicPaths.metrics,
      async ({ context }) => send(context, await answerMetrics(context.request, parts, metrics)),
      hide,
    )
    // The plugin gives its document as an object. That goes out like every other page.
    .onAfterHandle(({ context, response }) =>
      response instanceof Response
        ? response
        : send(context, { status: 200, body: JSON.stringify(response), headers: jsonHeaders }),
    )
    // The plugin's own page loads from another host. It gets a path at which nothing is served (checkPublic).
    .use(
      swagger({
        path: `${publicPaths.docs}/plugin`,
        specPath: publicPaths.openapi,
        documentation: describeApi(baseUrl, limit, adminCommand),
        excludeStaticFile: false,
      }),
    );
  for (const [path, { headers, body }] of Object.entries(explorerAssets)) {
    pages.get(path, ({ context }) => send(context, { status: 200, body, headers }), hide);
  }
  return pages;
}

const known: ReadonlySet<string> = new Set([...Object.values(publicPaths), ...Object.keys(explorerAssets)]);

/** Throws where a request for a public path asks for what is not there, or with another method than GET and HEAD. */
export function checkPublic({ request, path }: RequestContext): void {
  if (request.method !== "GET" && request.method !== "HEAD") {
    throw new ApiError("method_not_allowed", "This path takes GET and HEAD.");
  }
  if (!known.has(path)) throw new ApiError("not_found", `There is nothing at this path; see ${publicPaths.docs}.`);
}

const jsonHeaders = { "Content-Type": "application/json", "Cache-Control": "no-cache" };

const toDocs: PublicAnswer = {
  status: 302,
  body: `See ${publicPaths.docs}\n`,
  headers: { "Content-Type": "text/plain", Location: publicPaths.docs },
};
