/** A cluster as a picture in the terminal: a line for each node, and what is wrong below. */

import { grouped } from "../../../src/cli/terminal/numbers.ts";
import { table } from "../../../src/cli/terminal/table.ts";
import { adminCommand } from "../../../src/program-name.ts";
import type { ClusterStatus, NodeStatus } from "../cluster/node-status.ts";

/** What is said of a node that lacks writes. */
export function lackingText(name: string): string {
  return `${name} lacks writes that other nodes have, as after a full disk.`;
}

/** What helps it in any case. */
export const lackingAdvice = "Stop it, delete its folder, and start it with -join.";

export function statusText({ nodes, hasMajority }: ClusterStatus): string {
  const head = ["", "NODE", "ROLE", "BEHIND", "LOG", "RQLITE", "SERVER", "ANSWERS"];
  const picture = table(head, nodes.map(lineOf));
  const unscrubbed = nodes.filter(({ isScrubbed }) => !isScrubbed).map(({ name }) => name);
  return [
    picture,
    ...nodes.filter(({ lacksWrites }) => lacksWrites).map(({ name }) => `${lackingText(name)} ${lackingAdvice}`),
    hasMajority ? "" : "No majority can be reached: nothing is written, and the servers answer nobody.",
    unscrubbed.length === 0
      ? ""
      : `The logs of ${unscrubbed.join(", ")} still hold what was erased: ${adminCommand} cluster scrub, on each machine.`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** The same for programs, in names like those of every other command. */
export function statusValue({ nodes, hasMajority, spreadKeys }: ClusterStatus) {
  return { nodes: nodes.map(nodeValue), has_majority: hasMajority, spread_keys: spreadKeys };
}

function nodeValue(node: NodeStatus) {
  const { name, role, url, isReachable, lag, version, logBytes, wrongFlags, lacksWrites, isScrubbed, server } = node;
  return {
    name,
    role,
    // rqlite does not tell where a node was that it cannot reach.
    url: isReachable ? url : null,
    is_reachable: isReachable,
    lag,
    version,
    log_bytes: logBytes,
    wrong_flags: wrongFlags,
    lacks_writes: lacksWrites,
    is_scrubbed: isScrubbed,
    server,
  };
}

function lineOf(node: NodeStatus): string[] {
  return [
    node.isReachable ? (node.role === "leader" ? "◆" : "●") : "○",
    node.name,
    node.isReachable ? node.role : "not reached",
    node.lag === null ? "" : grouped(node.lag),
    node.logBytes === null ? "" : `${(node.logBytes / 2 ** 20).toFixed(1)} MiB`,
    node.version ?? "",
    node.server?.url ?? "",
    node.server === null ? "" : node.server.serves ? "yes" : "no",
  ];
}
