/** The context of one request: what it asks for, and the response with the headers of §8. */
import { Elysia } from "elysia";
import { windowMs } from "../contract/limits.ts";
import { paths, publicPaths } from "../contract/paths.ts";
import type { KnownKey } from "../db/reader.ts";

const publicOnes: ReadonlySet<string> = new Set(Object.values(publicPaths));
const routes: ReadonlySet<string> = new Set([...Object.values(paths), ...publicOnes]);

/** A response before its headers are complete, and what the log says of it. */
export interface ResponseParts {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | Blob;
  /** The error code, for the log and the metrics. */
  readonly code?: string;
  /** The cause of a failure, for the log alone. */
  readonly cause?: string;
}

/** Records how a request was answered. */
export type AccessLog = (context: RequestContext, parts: ResponseParts) => void;

/** A request, of which nothing is checked yet. */
export class RequestContext {
  /** Our X-Request-Id. A client's own is not echoed. */
  readonly id = crypto.randomUUID();
  readonly startedNs = Bun.nanoseconds();
  /** The path as it was sent, not decoded. */
  readonly path: string;
  /** The query as it was sent, without its question mark. */
  readonly search: string;
  /** The path if an endpoint or a public page is there, for logs and metrics; otherwise null. */
  readonly route: string | null;
  /** True if the path is outside the API, even if nothing is there: it needs no key and has no limit. */
  readonly isPublic: boolean;
  /** The live key, for logs and metrics; null if there is none. Handlers take `key`, which may read leads as well. */
  key: KnownKey | null = null;
  /** The version of the database that this request is answered from. It is read with the key (auth.ts). */
  databaseVersion = Number.NaN;
  /** Requests left in the window of the key. */
  remaining: number;

  constructor(
    readonly request: Request,
    readonly limit: number,
    readonly arrivedMs: number,
    private readonly record: AccessLog,
  ) {
    // The listener gives every URL this one form: `http://`, a host, and a path.
    [, this.path = "", this.search = ""] = /^http:\/\/[^/]*([^?]*)\??(.*)$/.exec(request.url) ?? [];
    this.route = routes.has(this.path) ? this.path : null;
    this.isPublic = publicOnes.has(this.path) || this.path.startsWith(`${publicPaths.docs}/`);
    this.remaining = limit;
  }

  /**
   * Responds with the headers that every response has, with others, and with those of the parts. They are on the Response:
   * Elysia copies a Response through its body stream if they are in `set.headers`.
   */
  respond(parts: ResponseParts, others: ResponseParts["headers"] = {}): Response {
    this.record(this, parts);
    const headers = { "X-Content-Type-Options": "nosniff", "X-Request-Id": this.id, ...others, ...parts.headers };
    return new Response(parts.body, { status: parts.status, headers });
  }

  /** Responds to a request of the API: with JSON and the headers of §8, whatever the status. */
  respondJson(parts: ResponseParts): Response {
    const windowEndSeconds = (Math.floor(this.arrivedMs / windowMs) + 1) * (windowMs / 1000);
    return this.respond(parts, {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-RateLimit-Limit": String(this.limit),
      "X-RateLimit-Remaining": String(this.remaining),
      "X-RateLimit-Reset": String(windowEndSeconds),
    });
  }
}

/**
 * Gives hooks and handlers the context of their request, and handlers of the API the key that may read leads. onRequest
 * sets both before any other code of the app sees the context, so that nobody sees the nulls.
 */
export const requestContext = new Elysia({ name: "request context" })
  .decorate("context", null as unknown as RequestContext)
  .decorate("key", null as unknown as KnownKey);
