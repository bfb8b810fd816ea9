/** The nodes of a cluster as tests and attacks see them: the program that they are, and which of them leads. */
import { findRqlited } from "../../../extensions/cluster/cluster/local-cluster.ts";

const found = findRqlited(process.env["HOME"]);

/** Where the program is; empty where it is not installed. */
export const rqlited = found ?? "";

/** Why there can be no cluster here; null where there can. */
export function missingRqlited(): string | null {
  return found === null ? "rqlited is not installed" : null;
}

/**
 * A loopback address for one cluster alone, so that nobody gets a port of it between two starts of what listens there. Only
 * Linux has more than one without being told.
 */
export function aHost(): string {
  if (process.platform !== "linux") return "127.0.0.1";
  const [one = 0, two = 0, three = 0] = crypto.getRandomValues(new Uint8Array(3));
  return `127.${one}.${two}.${1 + (three % 254)}`;
}

interface HasNode {
  readonly node: { readonly url: string };
}

/** The place whose node leads; throws where none does within a minute. */
export async function leaderOf<Place extends HasNode>(all: readonly Place[]): Promise<Place> {
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await Bun.sleep(50)) {
    for (const place of all) if ((await stateOf(place)) === "Leader") return place;
  }
  throw new Error("no node leads");
}

async function stateOf({ node }: HasNode): Promise<string | undefined> {
  try {
    const answer = await fetch(`${node.url}/status`, { signal: AbortSignal.timeout(3_000) });
    const { store }: { readonly store?: { readonly raft?: { readonly state?: string } } } = JSON.parse(
      await answer.text(),
    );
    return store?.raft?.state;
  } catch {
    return undefined;
  }
}
