/** The webhook endpoint: each POST is a delivery, which is on the disk before it is answered. */
import type { Logger } from "pino";
import { digestOf, isWellFormed } from "../../../src/contract/key.ts";
import { DatabaseUnavailable, type LeadDatabase } from "../../../src/db/connection.ts";
import { innermost } from "../../../src/db/failure.ts";
import { findSourceByDigest, type Source } from "../../../src/db/sources.ts";
import { arrivalLine } from "../../../src/import/parse/json.ts";
import { listeningFailure } from "../../../src/server/listen-address.ts";
import { type Address, type Listener, type Patience, startListener } from "../../../src/server/listener.ts";
import { pathOf } from "../../../src/server/targets.ts";
import { isForm, maxBodyBytes, readBody, readVisits, type Visits } from "./body.ts";
import { DeliveryRefused, tryAgain } from "./refusal.ts";
import { checkSignature } from "./signature.ts";
import type { Spool } from "./spool.ts";

interface EndpointParts {
  readonly database: Pick<LeadDatabase, "read" | "catchUp">;
  readonly spool: Spool;
  readonly log: Logger;
  readonly now: () => number;
  /** The public origin, to which a delivery over plain HTTP is redirected. */
  readonly baseUrl: string;
  /** True if a trusted proxy sets X-Forwarded-Proto. */
  readonly trustProxy: boolean;
}

/** At this size of the spool the imports do not keep up, and no delivery is accepted. */
const maxSpoolBytes = 1_000_000_000;
/** The bound for the memory of all deliveries that are not on the disk yet. */
const maxPendingBytes = 32_000_000;
/** A vendor does not wait longer for a cluster without a majority. */
const catchUpMs = 2_000;
/** The memory that a string takes in addition to its characters. */
const bytesPerString = 64;

type Endpoint = ReturnType<typeof createEndpoint>;

/** Creates the endpoint, which stores deliveries. It throws nothing: it answers and logs every failure. */
export function createEndpoint(parts: EndpointParts) {
  const { database, spool, log, now } = parts;
  let pendingBytes = 0;
  return async (request: Request): Promise<Response> => {
    const startedNs = Bun.nanoseconds();
    const path = pathOf(request.url);
    if (path === "/healthz" && request.method === "GET") return answer(200, { status: "ok" });
    let ownBytes = 0;
    function reserve(bytes: number): void {
      ownBytes += bytes;
      pendingBytes += bytes;
      if (pendingBytes > maxPendingBytes) throw tryAgain("There are too many deliveries at once");
    }
    let source: Source | null = null;
    /** Logs the ID of the source and the answer. Neither the token nor anything that was delivered is logged. */
    function logged(response: Response, visits: number, refused?: DeliveryRefused): Response {
      const us = Math.round((Bun.nanoseconds() - startedNs) / 1000);
      // Many vendors show nobody the answer.
      const why = refused && { code: refused.code, why: refused.message };
      log.info({ source: source?.id, status: response.status, visits, ...why, us }, "delivery");
      return response;
    }
    try {
      const digest = digestOf(tokenOf(request, path));
      const find = () => findSourceByDigest(database.read, digest);
      source = find();
      // A node that is behind does not know a new source yet, and vendors give up at a 401.
      if (source === null) await database.catchUp(catchUpMs);
      source = refuseInactive(source ?? find());
      if (isPlainHttp(request, parts)) return redirectToHttps(parts, source, path);
      const mayBeForm = isForm(request.headers.get("content-type"));
      const body = await readBody(request, reserve);
      const arrivedMs = now();
      if (source.signature !== null) checkSignature(source.signature, request.headers, body, arrivedMs);
      const visits = readVisits(body, request.headers.get("content-encoding"), mayBeForm);
      reserve(visits.json.length + bytesPerString);
      // The token may have been revoked while the body came, or through another node of a cluster.
      await database.catchUp(catchUpMs);
      source = refuseInactive(find());
      await store(spool, source, visits, arrivedMs);
      return logged(answer(200, { object: "delivery", visits: visits.count }), visits.count);
    } catch (cause) {
      const refused = logAndRefuse(cause, log);
      const { code, httpStatus, message } = refused;
      return logged(answer(httpStatus, { error: { code, message } }, headersOf[httpStatus]), 0, refused);
    } finally {
      pendingBytes -= ownBytes;
    }
  };
}

/** Returns the token in the path or in the Authorization header. */
function tokenOf(request: Request, path: string): string {
  const inPath = /^\/in(?:\/([^/]*))?$/.exec(path);
  if (inPath === null)
    throw new DeliveryRefused("not_found", "There is no endpoint at this path. Send deliveries to /in/TOKEN.");
  if (request.method !== "POST") throw new DeliveryRefused("method_not_allowed", "Send deliveries with POST.");
  const inHeader = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const token = inPath[1] ?? inHeader;
  if (token === undefined || token === "") {
    throw new DeliveryRefused("missing_token", "The URL has no token. It ends with /in/lfin_….");
  }
  if (!isWellFormed(token, "lfin_")) throw new DeliveryRefused("invalid_token", "This token does not exist.");
  return token;
}

/** Returns the source that a token has, if it is active. */
function refuseInactive(source: Source | null): Source {
  if (source === null) throw new DeliveryRefused("invalid_token", "This token does not exist.");
  if (source.revokedMs !== null) throw new DeliveryRefused("invalid_token", "This token was revoked.");
  return source;
}

/** Returns whether a proxy says that the client used plain HTTP, though the public address is HTTPS. */
function isPlainHttp(request: Request, { baseUrl, trustProxy }: EndpointParts): boolean {
  const proto = request.headers.get("x-forwarded-proto")?.split(",")[0]?.trim().toLowerCase();
  return trustProxy && proto === "http" && baseUrl.startsWith("https:");
}

function redirectToHttps({ baseUrl, log }: EndpointParts, source: Source, path: string): Response {
  log.warn({ source: source.id }, "the token of a source crossed the network unencrypted, over http; revoke it");
  return answer(308, { object: "redirect" }, { Location: baseUrl + path });
}

async function store(spool: Spool, source: Source, { count, json }: Visits, arrivedMs: number): Promise<void> {
  if (count === 0) return;
  if ((await spool.size()) >= maxSpoolBytes) throw tryAgain("The import does not keep up");
  try {
    await spool.append(source.id, arrivalLine(arrivedMs, json));
  } catch (cause) {
    throw tryAgain("The delivery could not be stored", cause);
  }
}

function logAndRefuse(cause: unknown, log: Logger): DeliveryRefused {
  const why = cause instanceof DeliveryRefused ? cause.cause : cause;
  if (why !== undefined) log.error({ cause: innermost(why) }, "a delivery failed");
  if (cause instanceof DeliveryRefused) return cause;
  if (cause instanceof DatabaseUnavailable) return tryAgain("The token could not be looked up");
  return new DeliveryRefused("internal_error", "The delivery could not be accepted; send it again.");
}

/** The headers of a refusal. What is refused with a 5xx may be accepted after half a minute. */
const headersOf: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": "Bearer" },
  405: { Allow: "POST" },
  500: { "Retry-After": "30" },
  503: { "Retry-After": "30" },
};

function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, {
    status,
    headers: { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", ...headers },
  });
}

/** Listens for deliveries. Throws a UserError if the address cannot be used. */
export function listenForDeliveries(address: Address, endpoint: Endpoint, patience: Patience = {}): Listener {
  try {
    // The endpoint counts bytes itself, so that a body that is too large gets an answer in words.
    return startListener(address, {
      serviceOn: () => ({ answer: endpoint, paths: ["/healthz", "/in", "/in/:token"] }),
      maxBodyBytes: 64 * maxBodyBytes,
      ...patience,
    });
  } catch (cause) {
    throw listeningFailure(cause, address, "RECEIVE_");
  }
}
