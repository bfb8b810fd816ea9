/** The target of a request, which is compared as it was sent, although Bun resolves its dot segments and backslashes. */
import type { BunRequest } from "bun";

export type Handler = (request: Request) => Response | Promise<Response>;

/**
 * Returns the routes of Bun.serve for a handler and its paths, such as /in/:token. Bun compares the target with routes as it
 * was sent, but gives `/docs/../api/v1/leads` and `/api/v1\leads` as the URL of another path. A request that reaches a known path
 * by its URL alone gets `/.` before it: the same address, and no known path.
 */
export function routesAsSent(handle: Handler, paths: readonly string[]) {
  const namesOf = (path: string) =>
    path.split("/").map((name) => (name.startsWith(":") ? "[^/]*" : RegExp.escape(name)));
  const known = new RegExp(`^(?:${paths.map((path) => namesOf(path).join("/")).join("|")})$`);
  const answer = (request: Request, isSent: (path: string) => boolean) => {
    const url = readableUrl(request);
    if (url === null || isForTwoHosts(request)) return new Response(null, malformed);
    const asSent = isSent(pathOf(url)) ? url : url.replace(/^http:\/\/[^/]*/, "$&/.");
    return handle(asSent === request.url ? request : Object.defineProperty(request, "url", { value: asSent }));
  };
  const route = (path: string) => (request: BunRequest) => answer(request, (sent) => sent === filled(path, request));
  return {
    routes: Object.fromEntries(paths.map((path) => [path, route(path)])),
    fetch: (request: Request) => answer(request, (path) => !known.test(path)),
  };
}

/** The answer to a request that is no HTTP, as Bun gives it: the connection may not be used again. */
const malformed = { status: 400, headers: { Connection: "close" } };

/** Returns the path of a URL as `readableUrl` makes it. */
export function pathOf(url: string): string {
  return /^http:\/\/[^/]*([^?]*)/.exec(url)?.[1] ?? "";
}

/**
 * Returns the URL of a request in the one form that is read here: `http://`, a host, and a target (elysia#748). With TLS, Bun
 * gives `https://`; without a usable Host header, the target alone. Null if the target does not begin with a slash, as that of CONNECT.
 */
function readableUrl({ url }: Request): string | null {
  if (url.startsWith("http://")) return url;
  if (url.startsWith("https://")) return url.replace("https:", "http:");
  return url.startsWith("/") ? `http://localhost${url}` : null;
}

/** Bun joins repeated headers. No name of a host has a comma. */
function isForTwoHosts({ headers }: Request): boolean {
  return headers.get("host")?.includes(",") === true;
}

/** Returns a path with its parameters as they were sent. One that was sent encoded differs from that in the URL. */
function filled(path: string, { params }: BunRequest): string {
  const values: Readonly<Record<string, string>> = params;
  return path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? "");
}
