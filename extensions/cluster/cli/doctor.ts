/** The findings of `doctor` about a cluster: its majority, its nodes, and who may write to the folder of the local node. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { lookAtDisk, mayWrite } from "../../../src/cli/doctor/file.ts";
import { broken, type Examined, type Finding, fine, warning } from "../../../src/cli/doctor/finding.ts";
import { adminCommand } from "../../../src/program-name.ts";
import { UserError } from "../../../src/user-error.ts";
import { askCluster, type ClusterStatus, reportedClockOffMs } from "../cluster/status.ts";
import { openLocalFile } from "../local-file.ts";
import { checkLocalNode } from "../node/local-node.ts";
import { nodeAt, type RqliteNode } from "../node/node.ts";
import { clockText, lackingAdvice, lackingText } from "./status.ts";

/** Looks for problems of the cluster. Finds nothing if CLUSTER is not set. */
export async function lookAtCluster({ path, config, nowMs }: Examined): Promise<Finding[]> {
  if (config === null || config.cluster === null) return [];
  const usedBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const ofNodes = await lookAtNodes(path, nodeAt(config.cluster), config.cluster.name, nowMs);
  return [...lookAtNodeFolder(path), ...lookAtDisk(path, usedBytes), ...ofNodes];
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
    using file = openLocalFile(path);
    const status = await askCluster(node, file.current(), nowMs);
    const findings = [...lookAtMembers(status, name), ...judge(status)];
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

/** Looks at which nodes are reachable and complete, and whether this one is still a member. */
function lookAtMembers({ nodes, hasMajority }: ClusterStatus, own: string): Finding[] {
  const lost = nodes.filter(({ isReachable }) => !isReachable);
  const silent = nodes.filter(({ isReachable, server }) => isReachable && server?.serves === false);
  const findings: Finding[] = [];
  if (!nodes.some(({ name }) => name === own)) {
    const advice = "Stop it and its server, and delete its folder. To add it again, start it with -join.";
    findings.push(broken("cluster", `${own} is no longer a node of the cluster, which has ${named(nodes)}.`, advice));
  }
  if (!hasMajority) {
    findings.push(
      broken(
        "cluster",
        `No majority of the ${nodes.length} nodes is reachable.`,
        "Start the others, or repair the network.",
      ),
    );
  } else if (lost.length > 0) {
    findings.push(
      warning("cluster", `These nodes are unreachable: ${named(lost)}.`, "Start them, or remove them: cluster leave."),
    );
  }
  for (const { name } of nodes.filter(({ lacksWrites }) => lacksWrites)) {
    findings.push(broken("cluster", lackingText(name), lackingAdvice));
  }
  if (hasMajority && silent.length > 0) {
    const what = `The servers of these nodes do not answer: ${named(silent)}.`;
    findings.push(warning("cluster", what, "Start them, or read the reason in the log of each."));
  }
  return findings;
}

function named(those: ClusterStatus["nodes"]): string {
  return those.map(({ name }) => name).join(", ");
}

/** Looks at the flags, clocks, versions, and logs of the nodes, and at how the balancer spreads keys. */
function judge({ nodes, spreadKeys }: ClusterStatus): Finding[] {
  const unscrubbed = nodes.filter(({ isScrubbed }) => !isScrubbed);
  const wrong = nodes.filter(({ wrongFlags }) => wrongFlags.length > 0);
  const versions = new Set(nodes.flatMap(({ version }) => version ?? []));
  const findings: Finding[] = [];
  for (const { name, wrongFlags } of wrong) {
    findings.push(
      warning("cluster", `${name} was started without ${wrongFlags.join(" and ")}.`, "See docs/cluster.md."),
    );
  }
  if (spreadKeys.length > 0) {
    const what = `Several nodes served the same key within a minute: ${spreadKeys.slice(0, 3).join(", ")}.`;
    findings.push(
      warning(
        "cluster",
        what,
        "Each grants it a rate limit. Have the balancer hash Authorization, unless a node has just been added or lost.",
      ),
    );
  }
  if (versions.size > 1) {
    const what = `The nodes run several versions of rqlite: ${[...versions].join(", ")}.`;
    findings.push(warning("cluster", what, "Install the same version on all of them."));
  }
  if (unscrubbed.length > 0) {
    const what = `The logs of ${named(unscrubbed)} still have residual bytes of erased persons.`;
    findings.push(
      warning("cluster", what, `Run ${adminCommand} cluster scrub on each machine, or enable its nightly timer.`),
    );
  }
  for (const { name, clockOffMs } of nodes) {
    if (clockOffMs === null || Math.abs(clockOffMs) <= reportedClockOffMs) continue;
    findings.push(warning("cluster", clockText(name, clockOffMs), "Enable time synchronization on that machine."));
  }
  return findings;
}
