/** bun admin cluster: several nodes of rqlite, with a server beside each. */
import { Command } from "commander";
import { type CommandContext, jsonCommand, outputOf } from "../../../src/cli/command.ts";
import { grouped, leadsText } from "../../../src/cli/terminal/numbers.ts";
import { readCluster, readDatabasePath } from "../../../src/config.ts";
import { UserError } from "../../../src/user-error.ts";
import { openCluster } from "../cluster/cluster.ts";
import type { Cluster } from "../cluster/node-status.ts";
import { nodeAt } from "../node/node.ts";
import { statusText, statusValue } from "./status.ts";

export function clusterCommand(context: CommandContext): Command {
  return new Command("cluster")
    .description("several nodes of rqlite, with a server beside each")
    .addCommand(initCommand())
    .addCommand(statusCommand(context))
    .addCommand(migrateCommand())
    .addCommand(scrubCommand(context))
    .addCommand(leaveCommand());
}

/** The cluster of the local node. Throws a UserError if CLUSTER is not set. */
function ownCluster(): Cluster {
  const cluster = readCluster();
  if (cluster !== null) return openCluster(readDatabasePath(), nodeAt(cluster));
  throw new UserError(
    "CLUSTER is not set.",
    "Set CLUSTER to the address of the rqlite node beside, and NODE_NAME to the name of this server.",
    2,
  );
}

function initCommand(): Command {
  return jsonCommand("init")
    .description("make an existing file the first node of a cluster: the empty node at CLUSTER takes it")
    .argument("<FILE>", "the file of a server that is stopped; it stays as it is")
    .action(async (file: string, options: { json?: boolean }) => {
      const { leads } = await ownCluster().begin(file);
      const next = "Start the other nodes with -join, and a server beside each.";
      const output = outputOf(options);
      output.result({ file, leads }, `The node has ${leadsText(leads)}. ${next}`);
      // No erasure looks for anybody there from now on.
      output.say(`${file} stays as it was, with its personal data: delete it when all is well.`);
    });
}

function statusCommand(context: CommandContext): Command {
  return jsonCommand("status")
    .description("show the nodes, who leads, how far each is, and which servers answer")
    .action(async (options: { json?: boolean }) => {
      const status = await ownCluster().status();
      outputOf(options).result(statusValue(status), statusText(status));
      if (!status.hasMajority) context.endWith(1);
    });
}

function migrateCommand(): Command {
  return jsonCommand("migrate")
    .description("bring the schema up to this version, before the first server of it starts")
    .action(async (options: { json?: boolean }) => {
      const migrations = await ownCluster().migrate();
      const done = migrations === 0 ? "It is of this version already." : "It is of this version now.";
      outputOf(options).result({ migrations }, `${done} Servers of the version before go on.`);
    });
}

function scrubCommand(context: CommandContext): Command {
  return jsonCommand("scrub")
    .description("take what was erased out of the log of this machine's node, which is stopped for a moment")
    .requiredOption("--stop <COMMAND>", "what stops the node, such as 'systemctl stop rqlited'")
    .requiredOption("--start <COMMAND>", "what starts it again")
    .action(async ({ stop, start, ...options }: { stop: string; start: string; json?: boolean }) => {
      // A signal must not leave the node stopped.
      await context.pause(0);
      const done = await ownCluster().scrub({ stop: () => run(stop), start: () => run(start) });
      const { node, bytesBefore, bytesAfter, awayMs } = done;
      outputOf(options).result(
        { node, bytes_before: bytesBefore, bytes_after: bytesAfter, away_ms: awayMs },
        `The log of ${node} had ${grouped(bytesBefore)} bytes and has ${grouped(bytesAfter)}. ` +
          `The node was away for ${(awayMs / 1000).toFixed(1)} s.`,
      );
    });
}

function leaveCommand(): Command {
  return jsonCommand("leave")
    .description("take a node out of the cluster; its server answers nobody any more when this returns")
    .argument("<NODE>", "as cluster status names it")
    .action(async (name: string, options: { json?: boolean }) => {
      await ownCluster().leave(name);
      outputOf(options).result(
        { node: name },
        `${name} is out. Stop its server and its rqlited, and delete its folder.`,
      );
    });
}

/** Runs a command line of the owner's, as a shell does. */
async function run(line: string): Promise<void> {
  const child = Bun.spawn(["sh", "-c", line], { stdin: "ignore", stdout: 2, stderr: "inherit" });
  const status = await child.exited;
  if (status === 0) return;
  throw new UserError(`The command ${JSON.stringify(line)} ended with ${status}.`, "See that the node runs.");
}
