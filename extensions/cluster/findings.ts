/** The problems of a cluster, for `doctor` and `cluster status`. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { broken, type Examined, type Finding, fine, orFine, shared, warning } from "../../src/cli/doctor/finding.ts";
import { checkDisk, mayWrite } from "../../src/cli/doctor/storage.ts";
import { sizeOf } from "../../src/db/database-files.ts";
import { adminCommand } from "../../src/runtime/program-name.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { checkLocalNode, maxRoundTripMs, refuseAlone } from "./members.ts";
import { nodeAt, type RqliteNode } from "./node.ts";
import { openNodeFile } from "./node-file.ts";
import { askCluster, type ClusterStatus, type NodeStatus } from "./status.ts";

/** A clock that is further off than this is reported. */
const maxClockOffMs = 2_000;

/** Looks for problems of the cluster. Finds nothing if CLUSTER is not set. */
export async function checkCluster({ path, config, nowMs }: Examined): Promise<Finding[]> {
  if (config === null || config.cluster === null) return [];
  const ofNodes = await checkNodes(path, nodeAt(config.cluster), nowMs);
  return [...checkNodeFolder(path), ...checkDisk(path, sizeOf(path)), ...ofNodes];
}

/** rqlite owns everything in the folder. Leadfile's user reads it through a group. */
function checkNodeFolder(path: string): Finding[] {
  const folder = dirname(path);
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  const isPublic = `Every user can read ${folder}, which has all leads unencrypted.`;
  const isWritable = `This user can write to ${folder}, but only rqlite may write to it.`;
  const otherUser = "Run Leadfile as another user, in the group of rqlite's user.";
  return orFine(
    fine("permissions", `Only rqlite can write to ${folder}.`),
    (mode & 0o007) !== 0 && warning("permissions", isPublic, `chmod 750 ${folder}`),
    process.getuid?.() !== 0 && mayWrite(folder) && warning("permissions", isWritable, otherUser),
  );
}

async function checkNodes(path: string, node: RqliteNode, nowMs: number): Promise<Finding[]> {
  try {
    await checkLocalNode(node, path);
    await refuseAlone(node);
    using file = openNodeFile(path);
    const status = await askCluster(node, file.current().connection, nowMs);
    const isMember = status.nodes.some(({ name }) => name === node.name);
    const removed = `${node.name} is no longer a node of the cluster, which has ${namesOf(status.nodes)}.`;
    const advice = "Stop it and its server, and delete its folder. To add it again, start it with -join.";
    const allFine = fine("cluster", `All ${status.nodes.length} nodes are reachable.`);
    return shared(orFine(allFine, !isMember && broken("cluster", removed, advice), ...problemsOf(status)));
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    const findings = [broken("cluster", cause.message, cause.advice)];
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return findings;
    const advice = "Start rqlited with -join. Do not restore a backup: rqlited copies the data from the other nodes.";
    return [broken("file", `There is no file ${path}.`, advice), ...findings];
  }
}

/** Lists the problems that a status shows. */
export function problemsOf(status: ClusterStatus): Finding[] {
  const { nodes, has_majority: hasMajority, spread_keys: spreadKeys } = status;
  const warn = (what: string, advice: string) => warning("cluster", what, advice);
  const unreachable = nodes.filter((node) => !node.is_reachable);
  const unresponsive = nodes.filter((node) => node.is_reachable && node.server?.serves === false);
  const unscrubbed = nodes.filter((node) => !node.is_scrubbed);
  const versions = new Set(nodes.flatMap(({ version }) => version ?? []));
  const noMajority = `No majority of the ${nodes.length} nodes is reachable: nothing can be written, and no server serves.`;
  const isComplete = nodes.every((node) => node.is_reachable && !node.is_stuck && node.server?.serves !== false);
  const hashing = "Configure the load balancer to hash Authorization, unless a node was just added or lost.";
  const found = [
    !hasMajority && broken("cluster", noMajority, "Start the other nodes, or restore the network."),
    hasMajority &&
      unreachable.length > 0 &&
      warn(`These nodes are unreachable: ${namesOf(unreachable)}.`, "Start them, or remove them with cluster leave."),
    hasMajority &&
      unresponsive.length > 0 &&
      warn(
        `The servers of these nodes do not respond: ${namesOf(unresponsive)}.`,
        "Start them, or see the log of each for the reason.",
      ),
    // A load balancer moves the keys of a node that fails.
    isComplete &&
      spreadKeys.length > 0 &&
      warn(
        `Several nodes served the same key within a minute: ${spreadKeys.slice(0, 3).join(", ")}.`,
        `Each grants it a rate limit. ${hashing}`,
      ),
    !status.may_replace_leader &&
      warn(
        "The user in CLUSTER_AUTH lacks the permission leader-ops, so servers cannot replace a leader that cannot write.",
        "Add it in auth.json on each machine, and restart rqlited on one machine at a time.",
      ),
    versions.size > 1 &&
      warn(
        `The nodes run several versions of rqlite: ${[...versions].join(", ")}.`,
        "Install the same version on all of them.",
      ),
    unscrubbed.length > 0 &&
      warn(
        `The files of ${namesOf(unscrubbed)} still have residual bytes of erased persons.`,
        `Run ${adminCommand} cluster scrub on each machine, or enable its nightly timer.`,
      ),
    ...nodes.flatMap(problemsOfNode),
  ];
  return found.filter((finding) => finding !== false);
}

function problemsOfNode({ name, lacks_writes: lacks, wrong_flags: flags, clock_off_ms: offMs, ...node }: NodeStatus) {
  const reading = node.readers.length === 0 ? null : `${node.readers.join(" and ")} keeps reading ${node.file}`;
  const ending = "End that program: only rqlited may keep the file open for longer than a moment.";
  const lacking = `${name} lacks writes that other nodes have, as after a full disk.`;
  const off = `${(Math.abs(offMs ?? 0) / 1_000).toFixed(1)} s ${(offMs ?? 0) > 0 ? "ahead of" : "behind"}`;
  return [
    node.is_stuck &&
      (reading === null
        ? broken(
            "cluster",
            `${name} can be read, but applies no writes.`,
            "Run doctor on its machine, which names the cause.",
          )
        : broken("cluster", `${name} applies no writes, because ${reading}.`, ending)),
    !node.is_stuck &&
      reading !== null &&
      warning("cluster", `${reading}, which can stop the writes of ${name}.`, ending),
    lacks &&
      broken("cluster", lacking, `Free space on its disk, and run ${adminCommand} cluster rejoin on its machine.`),
    (node.round_trip_ms ?? 0) > maxRoundTripMs &&
      warning(
        "cluster",
        `The round trip from here to ${name} takes ${node.round_trip_ms} ms, but at most ${maxRoundTripMs} ms are supported.`,
        "Move the nodes closer to each other, or find out why the network is slow.",
      ),
    flags.length > 0 &&
      warning("cluster", `${name} was started without ${flags.join(" and ")}.`, "See docs/cluster.md."),
    Math.abs(offMs ?? 0) > maxClockOffMs &&
      warning("cluster", `The clock of ${name} is ${off} the others.`, "Enable time synchronization on that machine."),
  ];
}

function namesOf(nodes: readonly NodeStatus[]): string {
  return nodes.map(({ name }) => name).join(", ");
}
