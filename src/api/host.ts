/** The host name of a request (§1): the bare domain and plain HTTP are redirected to the public address with a 308. */
import type { Logger } from "pino";
import type { Redirect } from "../contract/errors.ts";
import { publicPaths } from "../contract/paths.ts";
import type { Credential } from "./auth.ts";
import type { RequestContext } from "./request-context.ts";

/** A health check that asks by IP address must not be redirected. */
const neverRedirected: ReadonlySet<string> = new Set([publicPaths.health, publicPaths.metrics]);

export interface HostSettings {
  /** The public origin, such as https://www.example.com. */
  readonly baseUrl: string;
  /** True if X-Forwarded-Host and X-Forwarded-Proto are those of a trusted proxy. */
  readonly trustProxy: boolean;
  readonly log: Logger;
}

/**
 * Makes a function that redirects a request to the public address, or returns null if it has come there. X-Forwarded-Host
 * and X-Forwarded-Proto count only if they come from a proxy that we trust.
 */
export function createRedirect(
  { baseUrl, trustProxy, log }: HostSettings,
  readCredential: (context: RequestContext) => Credential,
) {
  const { hostname, protocol } = new URL(baseUrl);
  const bare = hostname.startsWith("www.") ? hostname.slice("www.".length) : null;
  const refusesPlainHttp = trustProxy && protocol === "https:";

  /** Returns what a trusted proxy says of the request that the client sent: each proxy on the way appends its own. */
  const forwarded = (headers: Headers, name: string) =>
    (trustProxy && headers.get(name)?.split(",")[0]?.trim()) || null;

  function warnOfKey(context: RequestContext): void {
    const credential = readCredential(context);
    if (typeof credential === "string") return;
    const message = "An API key crossed the network in the clear, over http. Revoke it and create a new one.";
    log.warn({ key: credential.prefix, id: context.id }, message);
  }

  return (context: RequestContext): Response | null => {
    if (bare === null && !refusesPlainHttp) return null;
    const { headers, method } = context.request;
    // The target of CONNECT is a host of the client's choice, to which no answer may lead.
    if (method === "CONNECT" || neverRedirected.has(context.path)) return null;
    const scheme = forwarded(headers, "x-forwarded-proto");
    const host = forwarded(headers, "x-forwarded-host") ?? headers.get("host") ?? "";
    // Checked first: a key that came in the clear must be reported, whatever the host.
    if (refusesPlainHttp && scheme?.toLowerCase() === "http") warnOfKey(context);
    else if (hostnameOf(host) !== bare) return null;
    const url = baseUrl + context.path + (context.search === "" ? "" : `?${context.search}`);
    const body: Redirect = { object: "redirect", url };
    return context.respondJson({ status: 308, headers: { Location: url }, body: JSON.stringify(body) });
  };
}

/** Returns the name in a Host header: without the port, without the dot of the root, in lower case. */
function hostnameOf(host: string): string {
  return host.trim().replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase();
}
