/** The nodes of a cluster for tests and attacks: their program, addresses, secrets, and leader. */
import { onTestFinished } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { findRqlited } from "../../../extensions/cluster/local-cluster.ts";
import type { RqliteNode } from "../../../extensions/cluster/node.ts";
import { aFolder } from "../../support/folder.ts";

const found = findRqlited(process.env["HOME"]);

/** The path of rqlited; empty if it is not installed. */
export const rqlited = found ?? "";

/** The reason why clusters cannot run on this machine; null if they can. */
export function missingRqlited(): string | null {
  return found === null ? "rqlited is not installed" : null;
}

/**
 * A loopback address for one cluster, so that no other program gets a port of a node while the node is stopped. Other systems
 * than Linux have only one address, so clusters cannot run in parallel there.
 */
export function aHost(): string {
  if (process.platform !== "linux") return "127.0.0.1";
  const [one = 0, two = 0, three = 0] = crypto.getRandomValues(new Uint8Array(3));
  return `127.${one}.${two}.${1 + (three % 254)}`;
}

/** Runs deploy/cluster/make-secrets for some hosts. Returns the folder of passwords and certificates. */
export function someSecrets(...hosts: readonly string[]): string {
  const folder = aFolder();
  const script = join(folder, "make-secrets");
  copyFileSync(join(import.meta.dir, "../../../deploy/cluster/make-secrets"), script);
  const { exitCode, stderr } = Bun.spawnSync(["sh", script, ...hosts]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return join(folder, "secrets");
}

/** The flags for rqlited to require these passwords and certificates. */
export function secureFlags(secrets: string): string[] {
  const [cert, key, ca] = ["node.pem", "node.key", "ca.pem"].map((name) => join(secrets, name));
  const http = [`-http-cert=${cert}`, `-http-key=${key}`, `-http-ca-cert=${ca}`];
  const node = [`-node-cert=${cert}`, `-node-key=${key}`, `-node-ca-cert=${ca}`, "-node-verify-client"];
  return [`-auth=${join(secrets, "auth.json")}`, ...http, ...node];
}

interface HasNode {
  readonly node: { readonly url: string };
}

/** The place whose node is the leader. Throws if there is none within a minute. */
export async function leaderOf<Place extends HasNode>(all: readonly Place[]): Promise<Place> {
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await Bun.sleep(50)) {
    for (const place of all) if ((await stateOf(place)) === "Leader") return place;
  }
  throw new Error("there is no leader");
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

/**
 * The JSON value that a command prints. A command that only reads is refused as long as there is no leader, and is run again.
 */
export async function printedBy<Value>(
  run: () => Promise<{ readonly status: number | null; readonly stdout: string; readonly stderr: string }>,
): Promise<Value> {
  for (const endMs = performance.now() + 60_000; ; await Bun.sleep(200)) {
    const { status, stdout, stderr } = await run();
    if (status === 0) return JSON.parse(stdout) as Value; // The caller says what the command promises.
    if (performance.now() > endMs) throw new Error(`the command ended with ${status}: ${stderr}`);
  }
}

/** A server that answers in the place of a node, until the test ends. */
export function standIn(fetch: (request: Request) => Response | Promise<Response>): RqliteNode {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  onTestFinished(() => server.stop(true));
  return { url: server.url.origin, authorization: null };
}
