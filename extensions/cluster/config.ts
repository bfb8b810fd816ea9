/** The settings of a server in a cluster, which go together. */
import { readFileSync } from "node:fs";
import { type Environment, given, originIn, wrong } from "../../src/config/settings.ts";

/** The place in a cluster; without one the file is this server's own. */
export interface ClusterConfig {
  /** The origin of the rqlite node beside. */
  readonly url: string;
  /** The name of this server. */
  readonly name: string;
  /** `user:password`; null where the nodes ask for none. */
  readonly credentials: string | null;
}

/** Reads CLUSTER, NODE and CLUSTER_AUTH, which go together; null where none is set. */
export function readClusterSettings(environment: Environment): ClusterConfig | null {
  const url = given(environment, "CLUSTER");
  const name = nodeName(environment);
  const auth = given(environment, "CLUSTER_AUTH");
  if (url === null) {
    if (name !== null) throw wrong("CLUSTER", "", "the address of the rqlite node beside, because NODE is set");
    if (auth !== null) throw wrong("CLUSTER", "", "the address of the rqlite node beside, because CLUSTER_AUTH is set");
    return null;
  }
  const origin = originIn(url);
  if (origin === null) {
    throw wrong("CLUSTER", url, "the address of the rqlite node beside, such as http://127.0.0.1:4001");
  }
  if (name === null) {
    const around = "bun run overwrites it: use bun src/main.ts and bun src/admin.ts";
    throw wrong("NODE", "", `a name for this server, such as n1 (${around})`);
  }
  if (!/^[\w.-]{1,64}$/.test(name))
    throw wrong("NODE", name, "up to 64 letters, digits, dots, hyphens and underscores");
  return { url: origin, name, credentials: auth === null ? null : readCredentials(auth) };
}

/** `bun run` sets NODE to the path of Node.js. A path is no name of a node. */
function nodeName(environment: Environment): string | null {
  const name = given(environment, "NODE");
  return name === environment["npm_node_execpath"] ? null : name;
}

function readCredentials(path: string): string {
  const accepts = "the path of a file with one line, user:password";
  let line: string;
  try {
    line = readFileSync(path, "utf8").trim();
  } catch {
    throw wrong("CLUSTER_AUTH", path, `${accepts}, that can be read`);
  }
  if (!/^[^:\s]+:\S+$/.test(line)) throw wrong("CLUSTER_AUTH", path, accepts);
  return line;
}
