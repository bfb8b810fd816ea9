/** The public paths: documentation, description, health, and metrics. They need no key and have no limit. */
import { timingSafeEqual } from "node:crypto";
import type { Server } from "bun";
import { Elysia } from "elysia";
import type { Registry } from "prom-client";
import { ApiError } from "../contract/errors.ts";
import { publicPaths } from "../contract/paths.ts";
import { innermost } from "../db/failure.ts";
import { isLoopback } from "../runtime/loopback.ts";
import { build } from "../runtime/program-name.ts";
import { downloads } from "./docs/downloads.ts";
import { explorerAssets } from "./docs/explorer.ts";
import { describeApi } from "./docs/openapi.ts";
import { docsPage } from "./docs/page.ts";
import { docsText, llmsText } from "./docs/reference.ts";
import { type RequestContext, type ResponseParts, requestContext } from "./request-context.ts";
import type { RequestStore } from "./request-store.ts";

interface Parts {
  readonly store: RequestStore;
  readonly server: Pick<Server<undefined>, "requestIP">;
  readonly metrics: Registry;
  readonly baseUrl: string;
  readonly limitPerMin: number;
  readonly publicMetrics: boolean;
  /** The token with which requests can read /metrics; null if METRICS_TOKEN is not set. */
  readonly metricsToken: string | null;
}

/** The description of the API does not list these paths. */
const hide = { detail: { hide: true } };

/** Makes the routes of the public paths. */
export function createPages({ store, server, metrics, baseUrl, limitPerMin, publicMetrics, metricsToken }: Parts) {
  // Behind a proxy that adds no header, a request from anywhere looks like one from this machine.
  const isLocal = isLoopback(new URL(baseUrl).hostname);

  function health(): ResponseParts {
    const headers = { "Content-Type": "application/json", "Cache-Control": "no-store" };
    try {
      store.probe();
      return { status: 200, body: JSON.stringify({ status: "ok", version: build }), headers };
    } catch (failure) {
      const cause = innermost(failure);
      return { status: 503, body: JSON.stringify({ status: "failing", version: build }), headers, cause };
    }
  }

  async function measure({ request }: RequestContext): Promise<ResponseParts> {
    const { headers: sent } = request;
    const isOpen =
      publicMetrics ||
      (metricsToken !== null && hasToken(sent, metricsToken)) ||
      (isLocal && isFromThisMachine(server.requestIP(request)?.address, sent));
    if (!isOpen) throw new ApiError("not_found", isLocal ? forThisMachine : forToken);
    const headers = { "Content-Type": metrics.contentType, "Cache-Control": "no-store" };
    return { status: 200, body: await metrics.metrics(), headers };
  }

  // Rendered at the first request: that takes as long as a hundred answers.
  const docs = once(() => ({ status: 200, ...docsPage(baseUrl) }));
  const text = once(() => asText("text/markdown", docsText(baseUrl)));
  const llms = once(() => asText("text/plain", llmsText(baseUrl)));

  const pages = new Elysia()
    .use(requestContext)
    .get(publicPaths.root, ({ context }) => context.respond(toDocs), hide)
    .get(publicPaths.docs, ({ context }) => context.respond(docs()), hide)
    .get(publicPaths.docsText, ({ context }) => context.respond(text()), hide)
    .get(publicPaths.llms, ({ context }) => context.respond(llms()), hide)
    .get(publicPaths.health, ({ context }) => context.respond(health()), hide)
    .get(publicPaths.metrics, async ({ context }) => context.respond(await measure(context)), hide)
    .use(describeApi(baseUrl, limitPerMin));
  for (const [path, asset] of Object.entries({ ...explorerAssets, ...downloads })) {
    pages.get(path, ({ context }) => context.respond({ status: 200, ...asset }), hide);
  }
  return pages;
}

function once(make: () => ResponseParts): () => ResponseParts {
  let made: ResponseParts | null = null;
  return () => (made ??= make());
}

function asText(type: string, body: string): ResponseParts {
  return { status: 200, body, headers: { "Content-Type": `${type}; charset=utf-8`, "Cache-Control": "no-cache" } };
}

const toDocs: ResponseParts = {
  status: 302,
  body: `See ${publicPaths.docs}\n`,
  headers: { "Content-Type": "text/plain", Location: publicPaths.docs },
};

const forThisMachine = "This path is for the machine itself. METRICS_TOKEN or METRICS=public opens it to others.";
const forToken = "This path needs the token of METRICS_TOKEN (Authorization: Bearer), because BASE_URL is public.";

/** Headers that proxies add. Some proxies add only one of them. */
const addedByProxies = /^(?:forwarded|via|x-forwarded-.*|x-real-ip)$/;

/**
 * Returns whether a request comes from this machine: from a loopback address, for a loopback host, and not through a proxy.
 * A web page in a browser on this machine can also send requests, but only with the Host header of its own site.
 */
export function isFromThisMachine(address: string | undefined, headers: Headers): boolean {
  const host = headers.get("host")?.replace(/:\d*$/, "") ?? "";
  if (address === undefined || !isLoopback(address) || !isLoopback(host)) return false;
  return ![...headers.keys()].some((name) => addedByProxies.test(name));
}

/** Returns whether a request sends a token. The comparison takes the same time for every wrong one. */
function hasToken(headers: Headers, token: string): boolean {
  const sent = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
  return timingSafeEqual(digest(sent), digest(token));
}
