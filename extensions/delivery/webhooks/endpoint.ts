/** The webhook endpoint: each POST is a delivery, and lies on the disk before it is answered. */

import type { Logger } from "pino";
import { digestOf, isWellFormed } from "../../../src/contract/key.ts";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { innermost } from "../../../src/db/failure.ts";
import type { Source, SourceFinder } from "../../../src/db/sources.ts";
import { checkType, readVisits } from "./body.ts";
import { readBody, reserveMemory } from "./incoming.ts";
import { DeliveryRefused, retryAfterSeconds, tryAgain } from "./refusal.ts";
import type { Spool } from "./spool.ts";

interface EndpointParts {
  readonly sources: SourceFinder;
  readonly spool: Spool;
  readonly log: Logger;
  /** The public origin, to which a delivery over plain HTTP is redirected. */
  readonly baseUrl: string;
  /** Whether a trusted proxy sets X-Forwarded-Proto. */
  readonly trustProxy: boolean;
}

/** With a larger spool than this, imports do not keep up, and nothing more is taken. */
const mostSpoolBytes = 1_000_000_000;

/** Answers one request: whether the delivery was kept. */
export type Endpoint = (request: Request) => Promise<Response>;

/** Nothing is thrown: whatever goes wrong is answered, and told to the log. */
export function createEndpoint(parts: EndpointParts): Endpoint {
  // Of all deliveries that are not on the disk yet.
  const held = { bytes: 0 };
  return async (request) => {
    const memory = reserveMemory(held);
    const startedNs = Bun.nanoseconds();
    const path = pathOf(request);
    if (path === "/healthz" && request.method === "GET") return answer(200, { status: "ok" });
    let source: Source | null = null;
    try {
      source = findSource(request, path, parts.sources);
      if (cameInTheClear(request, parts)) return sendToHttps(parts, source, path);
      checkType(request.headers.get("content-type"));
      const body = await readBody(request, memory);
      const visits = readVisits(body, request.headers.get("content-encoding"));
      memory.addTexts(visits);
      // A slow body may have outlived the token.
      source = findSource(request, path, parts.sources);
      await keep(parts.spool, source, visits);
      logDelivery(parts.log, source, { status: 200, visits: visits.length }, startedNs);
      return answer(200, { object: "delivery", visits: visits.length });
    } catch (cause) {
      const refused = toRefusal(cause, parts.log);
      const { status, code, message } = refused;
      logDelivery(parts.log, source, { status, visits: 0, code, why: message }, startedNs);
      return refuse(refused);
    } finally {
      memory.release();
    }
  };
}

/** The path as it was sent, which may hold a token. The URL begins with `http://` and a host. */
export function pathOf({ url }: Pick<Request, "url">): string {
  return url.slice(url.indexOf("/", "http://".length)).replace(/\?.*$/, "");
}

/** The live source whose token stands in the path or in the Authorization header. */
function findSource(request: Request, path: string, sources: SourceFinder): Source {
  const inPath = /^\/in(?:\/([^/]*))?$/.exec(path);
  if (inPath === null) throw new DeliveryRefused("not_found", "There is nothing here; deliveries go to /in/TOKEN.");
  if (request.method !== "POST") throw new DeliveryRefused("method_not_allowed", "Deliveries are sent by POST.");
  const inHeader = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const token = inPath[1] ?? inHeader;
  if (token === undefined || token === "") {
    throw new DeliveryRefused("missing_token", "No token was sent; the address ends with it: /in/lfin_….");
  }
  const source = isWellFormed(token, "lfin_") ? lookUp(token, sources) : null;
  if (source === null) throw new DeliveryRefused("invalid_token", "This token does not exist.");
  if (source.revokedMs !== null) throw new DeliveryRefused("invalid_token", "This token was revoked.");
  return source;
}

function lookUp(token: string, sources: SourceFinder): Source | null {
  try {
    return sources.findByDigest(digestOf(token));
  } catch (cause) {
    if (cause instanceof DatabaseUnavailable) throw tryAgain("The token could not be looked up", cause);
    throw cause;
  }
}

/** Whether a proxy says that the client spoke plain HTTP, though the public address is HTTPS. */
function cameInTheClear(request: Request, { baseUrl, trustProxy }: EndpointParts): boolean {
  const proto = request.headers.get("x-forwarded-proto")?.split(",")[0]?.trim().toLowerCase();
  return trustProxy && proto === "http" && baseUrl.startsWith("https:");
}

function sendToHttps({ baseUrl, log }: EndpointParts, source: Source, path: string): Response {
  log.warn({ source: source.id }, "the token of a source crossed the network in the clear, over http; revoke it");
  return answer(308, { object: "redirect" }, { Location: baseUrl + path });
}

async function keep(spool: Spool, source: Source, visits: readonly string[]): Promise<void> {
  if (visits.length === 0) return;
  if ((await spool.size()) >= mostSpoolBytes) throw tryAgain("The import does not keep up");
  try {
    await spool.append(source.id, visits);
  } catch (cause) {
    throw tryAgain("The delivery could not be kept", cause);
  }
}

function toRefusal(cause: unknown, log: Logger): DeliveryRefused {
  const why = cause instanceof DeliveryRefused ? cause.cause : cause;
  if (why !== undefined) log.error({ cause: innermost(why) }, "a delivery failed");
  if (cause instanceof DeliveryRefused) return cause;
  return new DeliveryRefused("internal_error", "The delivery could not be taken; send it again.", retryAfterSeconds);
}

interface Answered {
  readonly status: number;
  readonly visits: number;
  /** Of a refusal. Many vendors show nobody what was answered. */
  readonly code?: string;
  readonly why?: string;
}

/** Logs the id of the source and the answer. Neither the token nor anything that was delivered is logged. */
function logDelivery(log: Logger, source: Source | null, answered: Answered, startedNs: number): void {
  const us = Math.round((Bun.nanoseconds() - startedNs) / 1000);
  log.info({ source: source?.id, ...answered, us }, "delivery");
}

function refuse({ code, status, message, retryAfterSeconds }: DeliveryRefused): Response {
  return answer(
    status,
    { error: { code, message } },
    {
      ...(retryAfterSeconds === null ? {} : { "Retry-After": String(retryAfterSeconds) }),
      ...(status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
      ...(status === 405 ? { Allow: "POST" } : {}),
    },
  );
}

function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, {
    status,
    headers: { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", ...headers },
  });
}
