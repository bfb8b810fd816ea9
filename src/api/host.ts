/** The host name of a request (§1): the bare domain and plain HTTP are sent to the public address with a 308. */
import { publicPaths } from "../contract/paths.ts";
import type { AppParts } from "./app-parts.ts";
import type { Auth } from "./auth.ts";
import type { RequestContext } from "./context.ts";
import type { Reply } from "./reply.ts";

/** A watchdog that asks by IP address must not be redirected. */
const neverRedirected: ReadonlySet<string> = new Set([publicPaths.health, publicPaths.metrics]);

/** Why a request is sent to the public address. */
type Redirection = "bare domain" | "plain http";

/**
 * Makes the check of a request's host and scheme: the redirect to the public address, or undefined where it is right.
 * Null where there is nothing to check, as on a server that has neither a bare domain nor a proxy.
 */
export function createHostCheck({ baseUrl, trustProxy, log }: AppParts, auth: Auth, reply: Reply) {
  const { hostname, protocol } = new URL(baseUrl);
  const bare = hostname.startsWith("www.") ? hostname.slice("www.".length) : null;
  const refusesPlainHttp = trustProxy && protocol === "https:";
  if (bare === null && !refusesPlainHttp) return null;

  function redirectionOf(headers: Headers): Redirection | null {
    // Checked first: a key that came in the clear must be reported, whatever the host.
    if (refusesPlainHttp && firstOf(headers.get("x-forwarded-proto"))?.toLowerCase() === "http") return "plain http";
    const forwardedHost = trustProxy ? firstOf(headers.get("x-forwarded-host")) : null;
    const host = forwardedHost ?? headers.get("host");
    return bare !== null && host !== null && hostnameOf(host) === bare ? "bare domain" : null;
  }

  return (context: RequestContext): Response | undefined => {
    const { request, path, search } = context;
    const redirection = neverRedirected.has(path) ? null : redirectionOf(request.headers);
    if (redirection === null) return undefined;
    if (redirection === "plain http") {
      const key = auth.liveKeyOf(context);
      const message = "an API key crossed the network in the clear, over http; revoke it and make a new one";
      if (key !== null) log.warn({ key: key.prefix, id: context.id }, message);
    }
    const url = baseUrl + path + (search === "" ? "" : `?${search}`);
    return reply(context, {
      status: 308,
      headers: { Location: url },
      body: JSON.stringify({ object: "redirect", url }),
    });
  };
}

/** The value that the client sent: each proxy on the way adds its own behind it. */
function firstOf(list: string | null): string | null {
  return list?.split(",")[0]?.trim() || null;
}

/** The name in a Host header: without port, without the root's dot, in lower case. */
function hostnameOf(host: string): string {
  return host.trim().replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase();
}
