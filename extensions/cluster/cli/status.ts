/** Prints the status of a cluster: a table of its nodes, then what is wrong. */
import { grouped } from "../../../src/cli/terminal/numbers.ts";
import { table } from "../../../src/cli/terminal/table.ts";
import { adminCommand } from "../../../src/program-name.ts";
import { type ClusterStatus, type NodeStatus, reportedClockOffMs } from "../cluster/status.ts";

/** The problem of a node that lacks writes. */
export function lackingText(name: string): string {
  return `${name} lacks writes that other nodes have, as after a full disk.`;
}

export const lackingAdvice = "Stop it, delete its folder, and start it with -join.";

/** The problem of a node whose clock is wrong. */
export function clockText(name: string, clockOffMs: number): string {
  const seconds = (Math.abs(clockOffMs) / 1_000).toFixed(1);
  return `The clock of ${name} is ${seconds} s ${clockOffMs > 0 ? "ahead of" : "behind"} the others.`;
}

export function statusText({ nodes, hasMajority }: ClusterStatus): string {
  const head = ["", "NODE", "ROLE", "BEHIND", "LOG", "RQLITE", "SERVER", "ANSWERS"];
  const unscrubbed = nodes.filter(({ isScrubbed }) => !isScrubbed).map(({ name }) => name);
  return [
    table(head, nodes.map(lineOf)),
    ...nodes.filter(({ lacksWrites }) => lacksWrites).map(({ name }) => `${lackingText(name)} ${lackingAdvice}`),
    ...nodes
      .filter(({ clockOffMs }) => clockOffMs !== null && Math.abs(clockOffMs) > reportedClockOffMs)
      .map(({ name, clockOffMs }) => clockText(name, clockOffMs ?? 0)),
    hasMajority ? "" : "No majority is reachable: nothing can be written, and the servers do not serve.",
    unscrubbed.length === 0
      ? ""
      : `The logs of ${unscrubbed.join(", ")} still have residual bytes of erased persons. ` +
        `Run ${adminCommand} cluster scrub on each machine.`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** The same for programs, with names like those of every other command. */
export function statusValue({ nodes, hasMajority, spreadKeys }: ClusterStatus) {
  return { nodes: nodes.map(nodeValue), has_majority: hasMajority, spread_keys: spreadKeys };
}

function nodeValue({ name, role, url, isReachable, lag, version, server, ...node }: NodeStatus) {
  return {
    name,
    role,
    // rqlite does not report the address of a node that it cannot reach.
    url: isReachable ? url : null,
    is_reachable: isReachable,
    lag,
    version,
    log_bytes: node.logBytes,
    wrong_flags: node.wrongFlags,
    lacks_writes: node.lacksWrites,
    clock_off_ms: node.clockOffMs,
    is_scrubbed: node.isScrubbed,
    server,
  };
}

function lineOf(node: NodeStatus): string[] {
  return [
    node.isReachable ? (node.role === "leader" ? "◆" : "●") : "○",
    node.name,
    node.isReachable ? node.role : "unreachable",
    node.lag === null ? "" : grouped(node.lag),
    node.logBytes === null ? "" : `${(node.logBytes / 2 ** 20).toFixed(1)} MiB`,
    node.version ?? "",
    node.server?.url ?? "",
    node.server === null ? "" : node.server.serves ? "yes" : "no",
  ];
}
