/** The host name of a request (§1): the bare domain and plain HTTP are redirected to the public address with a 308. */
import { type Static, Type } from "@sinclair/typebox";
import { publicPaths } from "../contract/paths.ts";
import type { Call } from "./call.ts";

/** The body of a 308. */
export const Redirect = Type.Object(
  {
    object: Type.Literal("redirect"),
    url: Type.String({ format: "uri", description: "The address to send the request to." }),
  },
  {
    $id: "Redirect",
    description:
      "The request came to the bare domain or over plain HTTP. Send it to `url` yourself: many clients drop the " +
      "Authorization header when they follow a redirect to another host. It is not counted anywhere.",
  },
);
type Redirect = Static<typeof Redirect>;

/** The reason for a redirect. */
type Reason = "bare domain" | "plain http";

/** A health check that asks by IP address must not be redirected. */
const neverRedirected: ReadonlySet<string> = new Set([publicPaths.health, publicPaths.metrics]);

/**
 * Makes a function that returns why a request must be redirected, or null if its host and scheme are right.
 * X-Forwarded-Host and X-Forwarded-Proto count only if they come from a proxy that we trust.
 */
export function createHostCheck(baseUrl: string, trustProxy: boolean): (call: Call) => Reason | null {
  const { hostname, protocol } = new URL(baseUrl);
  const bare = hostname.startsWith("www.") ? hostname.slice("www.".length) : null;
  const refusesPlainHttp = trustProxy && protocol === "https:";

  return ({ request: { headers, method }, path }) => {
    if (bare === null && !refusesPlainHttp) return null;
    // The target of CONNECT is a host of the client's choice, to which no answer may lead.
    if (method === "CONNECT" || neverRedirected.has(path)) return null;
    // Checked first: a key that came in the clear must be reported, whatever the host.
    if (refusesPlainHttp && firstOf(headers.get("x-forwarded-proto"))?.toLowerCase() === "http") return "plain http";
    const forwardedHost = trustProxy ? firstOf(headers.get("x-forwarded-host")) : null;
    const host = forwardedHost ?? headers.get("host");
    return bare !== null && host !== null && hostnameOf(host) === bare ? "bare domain" : null;
  };
}

/** Returns the body of the redirect of a request to the public address. */
export function redirectTo(baseUrl: string, { path, search }: Call): Redirect {
  return { object: "redirect", url: baseUrl + path + (search === "" ? "" : `?${search}`) };
}

/** Returns the value that the client sent: each proxy on the way appends its own. */
function firstOf(list: string | null): string | null {
  return list?.split(",")[0]?.trim() || null;
}

/** Returns the name in a Host header: without the port, without the dot of the root, in lower case. */
function hostnameOf(host: string): string {
  return host.trim().replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase();
}
