/** Asks a server for its health, from another process or another machine. */
import { publicPaths } from "../contract/paths.ts";

type Health = "fine" | "failing" | "nobody";

/** The time limit for an answer of a server. */
export const patienceMs = 3_000;

/** Asks for /healthz at an origin. Accepts any certificate, because it is for the public name, not for this origin. */
export async function askHealth(origin: string): Promise<Health> {
  try {
    const answer = await fetch(`${origin}${publicPaths.health}`, {
      signal: AbortSignal.timeout(patienceMs),
      tls: { rejectUnauthorized: false },
    });
    const { status } = Object(await answer.json());
    if (status === "ok") return "fine";
    return status === "failing" ? "failing" : "nobody";
  } catch {
    // Nobody listens, nobody answers in time, or the answer is no JSON: it is not this server.
    return "nobody";
  }
}
