/** One request, from its arrival to its response. */
import { Elysia } from "elysia";
import { paths, publicPaths } from "../contract/paths.ts";
import type { KnownKey } from "../db/reader.ts";

const publicOnes: ReadonlySet<string> = new Set(Object.values(publicPaths));
const routes: ReadonlySet<string> = new Set([...Object.values(paths), ...publicOnes]);

/** A request, of which nothing is checked yet. */
export class Call {
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
  ) {
    // The URL begins with `http://`, a host, and a slash.
    const { url } = request;
    const start = url.indexOf("/", "http://".length);
    const question = url.indexOf("?", start);
    this.path = question === -1 ? url.slice(start) : url.slice(start, question);
    this.search = question === -1 ? "" : url.slice(question + 1);
    this.route = routes.has(this.path) ? this.path : null;
    this.isPublic = publicOnes.has(this.path) || this.path.startsWith(`${publicPaths.docs}/`);
    this.remaining = limit;
  }
}

/**
 * Gives handlers and hooks the call of their request, and routes of the API the key that may read them. onRequest sets
 * both before any other code of the app sees the context.
 */
export const calls = new Elysia({ name: "calls" })
  .decorate("call", null as unknown as Call)
  .decorate("key", null as unknown as KnownKey);
