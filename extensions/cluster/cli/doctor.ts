/** A cluster: whether it has a majority, what its nodes were started with, and who may write into the folder of this one. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { lookAtDisk, mayWrite } from "../../../src/cli/doctor/file.ts";
import { broken, type Examined, type Finding, fine, warning } from "../../../src/cli/doctor/finding.ts";
import { bytesText } from "../../../src/cli/terminal/numbers.ts";
import { explain } from "../../../src/operator/explain.ts";
import { adminCommand } from "../../../src/program-name.ts";
import { UserError } from "../../../src/user-error.ts";
import { openCluster } from "../cluster/cluster.ts";
import type { Cluster, ClusterStatus } from "../cluster/node-status.ts";
import { nodeAt } from "../node/node.ts";
import { lackingAdvice, lackingText } from "./status.ts";

/** A log this large is mostly free room, which a scrub gives back. */
const largeLogBytes = 1_000_000_000;

/** What is wrong with the cluster, as this server sees it; nothing if CLUSTER is not set. */
export async function lookAtCluster({ path, config }: Examined): Promise<Finding[]> {
  if (config === null || config.cluster === null) return [];
  const usedBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const cluster = openCluster(path, nodeAt(config.cluster));
  const ofNodes = await lookAtNodes(cluster, config.cluster.name);
  return [...lookAtNodeFolder(path), ...lookAtDisk(path, usedBytes), ...ofNodes];
}

/** Everything in the folder is rqlite's: Leadfile's user reads it through a group. */
function lookAtNodeFolder(path: string): Finding[] {
  const folder = dirname(path);
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  const findings: Finding[] = [];
  if ((mode & 0o007) !== 0) {
    const what = `Every user may look into ${folder}, where all leads lie in the clear.`;
    findings.push(warning("permissions", what, `chmod 750 ${folder}`));
  }
  if (process.getuid?.() !== 0 && mayWrite(folder)) {
    const what = `This user may write in ${folder}, which is rqlite's alone.`;
    findings.push(warning("permissions", what, "Run Leadfile as a user of its own, in the group of rqlite's."));
  }
  return findings.length > 0
    ? findings
    : [fine("permissions", `${folder} is rqlite's to write, and its group's to read.`)];
}

async function lookAtNodes(cluster: Cluster, name: string): Promise<Finding[]> {
  try {
    await cluster.checkBeside(name);
    const status = await cluster.status();
    const findings = [...lookAtMembers(status, name), ...judge(status)];
    return findings.length > 0 ? findings : [fine("cluster", `Its ${status.nodes.length} nodes are there.`)];
  } catch (cause) {
    const said = explain(cause);
    if (!(said instanceof UserError)) throw cause;
    return [broken("cluster", said.message, said.advice)];
  }
}

/** Whether the nodes are reached, whether each has all, and whether this one is one of them. */
function lookAtMembers({ nodes, hasMajority }: ClusterStatus, own: string): Finding[] {
  const lost = nodes.filter(({ isReachable }) => !isReachable);
  const silent = nodes.filter(({ isReachable, server }) => isReachable && server?.serves === false);
  const findings: Finding[] = [];
  if (!nodes.some(({ name }) => name === own)) {
    const advice = "Stop it and its server, delete its folder, and start it with -join where it is to stay.";
    findings.push(broken("cluster", `${own} is no node of it any more; it has ${named(nodes)}.`, advice));
  }
  if (!hasMajority) {
    findings.push(
      broken(
        "cluster",
        `No majority of its ${nodes.length} nodes can be reached.`,
        "Start the others, or mend the way to them.",
      ),
    );
  } else if (lost.length > 0) {
    findings.push(
      warning("cluster", `These nodes cannot be reached: ${named(lost)}.`, "Start them, or let them leave."),
    );
  }
  for (const { name } of nodes.filter(({ lacksWrites }) => lacksWrites)) {
    findings.push(broken("cluster", lackingText(name), lackingAdvice));
  }
  if (hasMajority && silent.length > 0) {
    const what = `The servers beside these nodes do not answer: ${named(silent)}.`;
    findings.push(warning("cluster", what, "Start them, or read in the log of each why it cannot."));
  }
  return findings;
}

function named(those: ClusterStatus["nodes"]): string {
  return those.map(({ name }) => name).join(", ");
}

/** What the nodes were started with, what their logs hold, and how the balancer spreads keys. */
function judge({ nodes, spreadKeys }: ClusterStatus): Finding[] {
  const unscrubbed = nodes.filter(({ isScrubbed }) => !isScrubbed);
  const wrong = nodes.filter(({ wrongFlags }) => wrongFlags.length > 0);
  const large = nodes.filter(({ logBytes }) => (logBytes ?? 0) > largeLogBytes);
  const versions = new Set(nodes.flatMap(({ version }) => version ?? []));
  const findings: Finding[] = [];
  for (const { name, wrongFlags } of wrong) {
    findings.push(
      warning("cluster", `${name} was started without ${wrongFlags.join(" and ")}.`, "See docs/cluster.md."),
    );
  }
  if (spreadKeys.length > 0) {
    const what = `Several nodes counted the same key within a minute: ${spreadKeys.slice(0, 3).join(", ")}.`;
    findings.push(
      warning(
        "cluster",
        what,
        "Each gives it a limit. Let the balancer hash Authorization, unless a node has just come or gone.",
      ),
    );
  }
  if (versions.size > 1) {
    const what = `The nodes have several versions of rqlite: ${[...versions].join(", ")}.`;
    findings.push(warning("cluster", what, "Bring all of them to one."));
  }
  if (unscrubbed.length > 0) {
    const what = `The logs of ${named(unscrubbed)} still hold what was erased.`;
    findings.push(warning("cluster", what, `${adminCommand} cluster scrub, on each machine; a timer does it nightly.`));
  }
  for (const { name, logBytes } of large) {
    findings.push(
      warning("cluster", `The log of ${name} takes ${bytesText(logBytes ?? 0)}.`, "A scrub gives the room back."),
    );
  }
  return findings;
}
