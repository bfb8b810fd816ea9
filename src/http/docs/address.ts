/** The address under which a reader of the documentation reaches this server, for lines to paste. */
import type { HostRule } from "../host.ts";

/** A host that can stand in a URL and in a line for a shell as it is. */
const plainHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;

/**
 * The public origin; where that is only known to the machine itself, as in a start without BASE_URL, the address that
 * the reader asked for.
 */
export function originForReader(headers: Headers, { baseUrl, trustProxy }: HostRule): string {
  const { hostname, protocol } = new URL(baseUrl);
  if (!/^(?:localhost|127\..*|\[::1\]|\[::\]|0\.0\.0\.0)$/.test(hostname)) return baseUrl;
  const forwarded = (name: string) => (trustProxy ? headers.get(name)?.split(",")[0]?.trim() : undefined);
  const host = forwarded("x-forwarded-host") ?? headers.get("host") ?? "";
  const scheme = forwarded("x-forwarded-proto")?.toLowerCase() === "https" ? "https:" : protocol;
  return plainHost.test(host) && URL.canParse(`${scheme}//${host}`) ? `${scheme}//${host}` : baseUrl;
}
