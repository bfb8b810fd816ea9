/** The problems of a cluster, for `doctor` and `cluster status`. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { checkDisk, mayWrite } from "../../src/cli/doctor/files.ts";
import { broken, type Examined, type Finding, fine, warning } from "../../src/cli/doctor/finding.ts";
import { sizeOf } from "../../src/db/files.ts";
import { adminCommand } from "../../src/program-name.ts";
import { UserError } from "../../src/user-error.ts";
import { checkLocalNode } from "./members.ts";
import { nodeAt, type RqliteNode } from "./node.ts";
import { openNodeFile } from "./node-file.ts";
import { askCluster, type ClusterStatus, type NodeStatus } from "./status.ts";

/** A clock that is further off than this is reported. */
const maxClockOffMs = 2_000;

/** Looks for problems of the cluster. Finds nothing if CLUSTER is not set. */
export async function lookAtCluster({ path, config, nowMs }: Examined): Promise<Finding[]> {
  if (config === null || config.cluster === null) return [];
  const ofNodes = await lookAtNodes(path, nodeAt(config.cluster), config.cluster.name, nowMs);
  return [...lookAtNodeFolder(path), ...checkDisk(path, sizeOf(path)), ...ofNodes];
}

/** rqlite owns everything in the folder. Leadfile's user reads it through a group. */
function lookAtNodeFolder(path: string): Finding[] {
  const folder = dirname(path);
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  const findings: Finding[] = [];
  if ((mode & 0o007) !== 0) {
    const what = `Every user can read ${folder}, which has all leads unencrypted.`;
    findings.push(warning("permissions", what, `chmod 750 ${folder}`));
  }
  if (process.getuid?.() !== 0 && mayWrite(folder)) {
    const what = `This user can write to ${folder}, which only rqlite may do.`;
    findings.push(warning("permissions", what, "Run Leadfile as another user, in the group of rqlite's user."));
  }
  return findings.length > 0 ? findings : [fine("permissions", `Only rqlite can write to ${folder}.`)];
}

async function lookAtNodes(path: string, node: RqliteNode, name: string, nowMs: number): Promise<Finding[]> {
  try {
    await checkLocalNode(node, name, path);
    using file = openNodeFile(path);
    const status = await askCluster(node, file.current().connection, nowMs);
    const findings = [...lookForName(status, name), ...problemsOf(status)];
    return findings.length > 0 ? findings : [fine("cluster", `All ${status.nodes.length} nodes are reachable.`)];
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    const findings = [broken("cluster", cause.message, cause.advice)];
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return findings;
    const advice =
      "Start rqlited with -join. Do not restore a backup; in a cluster rqlited does that from the other nodes.";
    return [broken("file", `There is no file ${path}.`, advice), ...findings];
  }
}

/** Looks whether a node is still a member. */
function lookForName({ nodes }: ClusterStatus, name: string): Finding[] {
  if (nodes.some((node) => node.name === name)) return [];
  const advice = "Stop it and its server, and delete its folder. To add it again, start it with -join.";
  return [broken("cluster", `${name} is no longer a node of the cluster, which has ${named(nodes)}.`, advice)];
}

/** Lists the problems that a status shows. */
export function problemsOf(status: ClusterStatus): Finding[] {
  const { nodes, spread_keys: spreadKeys } = status;
  const findings = lookAtReachability(status);
  const warn = (what: string, advice: string) => findings.push(warning("cluster", what, advice));
  for (const { name } of nodes.filter((node) => node.lacks_writes)) {
    const what = `${name} lacks writes that other nodes have, as after a full disk.`;
    findings.push(broken("cluster", what, "Stop it, delete its folder, and start it with -join."));
  }
  for (const { name, wrong_flags: flags } of nodes.filter((node) => node.wrong_flags.length > 0)) {
    warn(`${name} was started without ${flags.join(" and ")}.`, "See docs/cluster.md.");
  }
  if (spreadKeys.length > 0) {
    const advice =
      "Each grants it a rate limit. Have the balancer hash Authorization, unless a node has just been added or lost.";
    warn(`Several nodes served the same key within a minute: ${spreadKeys.slice(0, 3).join(", ")}.`, advice);
  }
  const versions = new Set(nodes.flatMap(({ version }) => version ?? []));
  if (versions.size > 1) {
    const what = `The nodes run several versions of rqlite: ${[...versions].join(", ")}.`;
    warn(what, "Install the same version on all of them.");
  }
  const unscrubbed = nodes.filter((node) => !node.is_scrubbed);
  if (unscrubbed.length > 0) {
    const what = `The logs of ${named(unscrubbed)} still have residual bytes of erased persons.`;
    warn(what, `Run ${adminCommand} cluster scrub on each machine, or enable its nightly timer.`);
  }
  for (const { name, clock_off_ms: offMs } of nodes) {
    if (offMs === null || Math.abs(offMs) <= maxClockOffMs) continue;
    const off = `${(Math.abs(offMs) / 1_000).toFixed(1)} s ${offMs > 0 ? "ahead of" : "behind"}`;
    warn(`The clock of ${name} is ${off} the others.`, "Enable time synchronization on that machine.");
  }
  return findings;
}

function lookAtReachability({ nodes, has_majority: hasMajority }: ClusterStatus): Finding[] {
  if (!hasMajority) {
    const what = `No majority of the ${nodes.length} nodes is reachable: nothing can be written, and no server serves.`;
    return [broken("cluster", what, "Start the others, or repair the network.")];
  }
  const findings: Finding[] = [];
  const unreachable = nodes.filter((node) => !node.is_reachable);
  if (unreachable.length > 0) {
    const what = `These nodes are unreachable: ${named(unreachable)}.`;
    findings.push(warning("cluster", what, "Start them, or remove them: cluster leave."));
  }
  const silent = nodes.filter((node) => node.is_reachable && node.server?.serves === false);
  if (silent.length > 0) {
    const what = `The servers of these nodes do not answer: ${named(silent)}.`;
    findings.push(warning("cluster", what, "Start them, or read the reason in the log of each."));
  }
  return findings;
}

function named(those: readonly NodeStatus[]): string {
  return those.map(({ name }) => name).join(", ");
}
