/** Asks a server for its health, from another process or another machine. */
import { publicPaths } from "../contract/paths.ts";

type Health = "fine" | "failing" | "nobody";

/** The time limit for the response of a server. */
export const healthTimeoutMs = 3_000;

/**
 * Requests /healthz from an origin. Accepts any certificate, because certificates are for the public name, not for this origin.
 */
export async function askHealth(origin: string): Promise<Health> {
  try {
    const answer = await fetch(`${origin}${publicPaths.health}`, {
      signal: AbortSignal.timeout(healthTimeoutMs),
      tls: { rejectUnauthorized: false },
    });
    const { status } = Object(await answer.json());
    if (status === "ok") return "fine";
    return status === "failing" ? "failing" : "nobody";
  } catch {
    // No server listens or responds in time, or the response is not JSON, so it is not Leadfile.
    return "nobody";
  }
}
