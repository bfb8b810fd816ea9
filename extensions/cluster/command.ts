/** bun admin cluster: several nodes of rqlite, each with a server. */
import { typedPath } from "../../src/cli/arguments.ts";
import { AdminCommand, type AnyCommand, type CommandContext, jsonCommand } from "../../src/cli/command.ts";
import { grouped, leadsText } from "../../src/cli/terminal/numbers.ts";
import { table } from "../../src/cli/terminal/table.ts";
import { readCluster, readDatabasePath } from "../../src/config.ts";
import { stopSignal } from "../../src/runtime/signals.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { type ClusterDatabase, openClusterDatabase } from "./database.ts";
import { problemsOf } from "./findings.ts";
import { nodeAt, type RqliteNode } from "./node.ts";
import { openNodeFile } from "./node-file.ts";
import { initCluster, migrateCluster, removeNode } from "./nodes.ts";
import { type Restarting, rejoinNode } from "./rejoin.ts";
import { scrubNode } from "./scrub.ts";
import { askCluster, type ClusterStatus, type NodeStatus } from "./status.ts";

export function clusterCommand(context: CommandContext): AnyCommand {
  return new AdminCommand("cluster", ["cluster status"])
    .addCommand(initCommand(context))
    .addCommand(statusCommand(context))
    .addCommand(migrateCommand(context))
    .addCommand(scrubCommand(context))
    .addCommand(rejoinCommand(context))
    .addCommand(leaveCommand(context));
}

/** The local node. Throws a UserError if CLUSTER is not set. */
function localNode(): RqliteNode {
  const cluster = readCluster();
  if (cluster !== null) return nodeAt(cluster);
  throw new UserError(
    "CLUSTER is not set.",
    "Set CLUSTER to the address of the local rqlite node, and NODE_NAME to its -node-id.",
    2,
  );
}

/** Works with the database of the local node, and closes it. */
async function withDatabase<Result>(work: (database: ClusterDatabase) => Promise<Result>): Promise<Result> {
  using file = openNodeFile(readDatabasePath());
  return await work(openClusterDatabase(file, localNode()));
}

function initCommand(context: CommandContext): AnyCommand {
  return jsonCommand("init", ["cluster init /var/lib/leadfile/leadfile.db"])
    .description("copy an existing file into the first node, which must be empty")
    .argument("<FILE>", "the file of a stopped server; it is not changed", typedPath)
    .action(async (file: string) => {
      const { leads } = await initCluster(localNode(), file);
      const next = "Start the other nodes with -join, and a server for each node.";
      context.output.result({ file, leads }, `The node has ${leadsText(leads)}. ${next}`);
      // Later erasures do not reach this file.
      context.output.say(`${file} still contains personal data. Delete it when the cluster serves.`);
    });
}

function statusCommand(context: CommandContext): AnyCommand {
  return jsonCommand("status", ["cluster status", "cluster status --json"])
    .description("show the nodes, the leader, the progress of each node, and which servers respond")
    .action(async () => {
      const status = await withDatabase(({ node, read }) => askCluster(node, read, context.now()));
      context.output.result(status, statusText(status));
      if (!status.has_majority) context.setExitStatus(1);
    });
}

/** Returns a table of the nodes, followed by the problems. */
function statusText(status: ClusterStatus): string {
  const head = ["", "NODE", "ROLE", "BEHIND", "LOG", "RQLITE", "SERVER", "ANSWERS"];
  const problems = problemsOf(status).map(({ what, advice }) => `${what} ${advice}`);
  return [table(head, status.nodes.map(lineOf)), ...problems].join("\n\n");
}

function lineOf(node: NodeStatus): string[] {
  return [
    node.is_reachable ? (node.role === "leader" ? "◆" : "●") : "○",
    node.name,
    node.is_stuck ? `${node.role}, stuck` : node.is_reachable ? node.role : "unreachable",
    node.lag === null ? "" : grouped(node.lag),
    node.log_bytes === null ? "" : `${(node.log_bytes / 2 ** 20).toFixed(1)} MiB`,
    node.version ?? "",
    node.server?.url ?? "",
    node.server === null ? "" : node.server.serves ? "yes" : "no",
  ];
}

function migrateCommand(context: CommandContext): AnyCommand {
  return jsonCommand("migrate", ["cluster migrate"])
    .description("update the schema to this version, before its first server starts")
    .action(async () => {
      const migrations = await withDatabase(migrateCluster);
      const done = migrations === 0 ? "The schema is up to date." : `Migrations applied: ${grouped(migrations)}.`;
      context.output.result({ migrations }, `${done} Servers of the earlier version continue to serve.`);
    });
}

/** Returns a command that works while the local node is stopped. `work` returns the result and a message. */
function restartCommand(
  { output }: CommandContext,
  name: string,
  description: string,
  work: (database: ClusterDatabase, restarting: Restarting) => Promise<readonly [result: object, said: string]>,
): AnyCommand {
  return jsonCommand(name, [`cluster ${name} --stop "docker stop n1" --start "docker start n1"`])
    .description(description)
    .requiredOption("--stop <COMMAND>", "the command that stops the node, such as 'systemctl stop rqlited'")
    .requiredOption("--start <COMMAND>", "the command that starts it again")
    .action(async ({ stop, start }: { readonly stop: string; readonly start: string }) => {
      // A signal must not leave the node stopped.
      stopSignal();
      const restarting = { stop: () => run(stop), start: () => run(start) };
      output.result(...(await withDatabase((database) => work(database, restarting))));
    });
}

function scrubCommand(context: CommandContext): AnyCommand {
  const description = "remove the residual bytes of erased persons from the local node, which is stopped briefly";
  return restartCommand(context, "scrub", description, async (database, restarting) => {
    const { node, bytesBefore, bytesAfter, awayMs } = await scrubNode(database, restarting);
    return [
      { node, bytes_before: bytesBefore, bytes_after: bytesAfter, away_ms: awayMs },
      `The log of ${node} had ${grouped(bytesBefore)} bytes and now has ${grouped(bytesAfter)}. ` +
        `The node was stopped for ${(awayMs / 1000).toFixed(1)} s.`,
    ];
  });
}

function rejoinCommand(context: CommandContext): AnyCommand {
  const description = "have the local node copy all data from the others, as after its disk was full";
  return restartCommand(context, "rejoin", description, async (database, restarting) => {
    await rejoinNode(database, restarting);
    const { name } = database.node;
    return [{ node: name }, `${name} has all data of the cluster.`];
  });
}

function leaveCommand(context: CommandContext): AnyCommand {
  return jsonCommand("leave", ["cluster leave n3"])
    .description("remove a node; its server has stopped serving when the command returns")
    .argument("<NODE>", "the name that cluster status shows")
    .action(async (name: string) => {
      await withDatabase((database) => removeNode(database, name));
      const next = "Stop its server and its rqlited, and delete its folder.";
      context.output.result({ node: name }, `${name} was removed. ${next}`);
    });
}

/** Runs a command line of the operator in a shell. */
async function run(line: string): Promise<void> {
  const child = Bun.spawn(["sh", "-c", line], { stdin: "ignore", stdout: 2, stderr: "inherit" });
  const status = await child.exited;
  if (status === 0) return;
  throw new UserError(
    `The command ${JSON.stringify(line)} ended with status ${status}.`,
    "Check that the rqlite node is running.",
  );
}
