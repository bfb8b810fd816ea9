/** The host name of a request (§1): the bare domain and plain HTTP are sent to the public address with a 308. */

export interface HostRule {
  /** The public origin, such as https://www.example.com. */
  readonly baseUrl: string;
  /** Whether X-Forwarded-Host and X-Forwarded-Proto are those of a proxy that we trust. */
  readonly trustProxy: boolean;
}

/** Why a request is sent to the public address. */
export type Redirection = "bare domain" | "plain http";

/** Makes the check of a request's host and scheme against the public origin; null where the address is right. */
export function createHostCheck({ baseUrl, trustProxy }: HostRule): (headers: Headers) => Redirection | null {
  const { hostname, protocol } = new URL(baseUrl);
  const bare = hostname.startsWith("www.") ? hostname.slice("www.".length) : null;
  return (headers) => {
    const forwardedHost = trustProxy ? firstOf(headers.get("x-forwarded-host")) : null;
    const host = forwardedHost ?? headers.get("host");
    const inTheClear = trustProxy && firstOf(headers.get("x-forwarded-proto"))?.toLowerCase() === "http";
    // First, because a key that came in the clear must be known wherever it went.
    if (inTheClear && protocol === "https:") return "plain http";
    return bare !== null && host !== null && hostnameOf(host) === bare ? "bare domain" : null;
  };
}

/** The value that the client met: each proxy on the way appends its own. */
function firstOf(list: string | null): string | null {
  return list?.split(",")[0]?.trim() || null;
}

/** The name in a Host header: without port, without the root's dot, in lower case. */
function hostnameOf(host: string): string {
  return host.trim().replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase();
}
