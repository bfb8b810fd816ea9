/** bun admin: one command per noun and verb. */
import { Command } from "commander";
import { version } from "../../package.json";
import { adminCommand } from "../operator/program-name.ts";
import { accountCommand } from "./account.ts";
import { auditCommand } from "./audit.ts";
import { clusterCommand } from "./cluster/cluster.ts";
import type { CommandContext } from "./command.ts";
import { completionsCommand } from "./completions/completions.ts";
import { conformanceCommand } from "./conformance.ts";
import { backupCommand, restoreCommand } from "./copies.ts";
import { demoCommand } from "./demo/demo.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import { addExamples } from "./examples.ts";
import { followCommand } from "./follow/follow.ts";
import { importsCommand } from "./import.ts";
import { inboxCommand } from "./inbox.ts";
import { keyCommand } from "./key/key.ts";
import { leadCommand } from "./lead/lead.ts";
import { mcpCommand } from "./mcp/mcp.ts";
import { pixelCommand } from "./pixel.ts";
import { receiveCommand } from "./receive.ts";
import { retainCommand } from "./retain.ts";
import { healthCommand, serveCommand } from "./server.ts";
import { sourceCommand } from "./source.ts";
import { statsCommand } from "./stats/stats.ts";
import { print } from "./terminal/output.ts";
import { paint } from "./terminal/paint.ts";

/** The whole command line. It throws instead of ending the process, so that the caller can close the store. */
export function createProgram(context: CommandContext): Command {
  const program: Command = new Command(adminCommand)
    .description("Looks after a Leadfile database: accounts, pixels, keys and leads.")
    .version(version)
    .addCommand(accountCommand(context))
    .addCommand(pixelCommand(context))
    .addCommand(keyCommand(context))
    .addCommand(leadCommand(context))
    .addCommand(importsCommand(context))
    .addCommand(inboxCommand(context))
    .addCommand(receiveCommand(context))
    .addCommand(sourceCommand(context))
    .addCommand(statsCommand(context))
    .addCommand(doctorCommand(context))
    .addCommand(retainCommand(context))
    .addCommand(backupCommand(context))
    .addCommand(restoreCommand(context))
    .addCommand(auditCommand(context))
    .addCommand(clusterCommand(context))
    .addCommand(demoCommand(context))
    .addCommand(conformanceCommand(context))
    .addCommand(followCommand(context))
    .addCommand(mcpCommand(context))
    .addCommand(completionsCommand(() => program))
    .addHelpText(
      "after",
      `
First steps:
  ${adminCommand} account create acme
  ${adminCommand} lead import acme export.csv --create-pixels
  ${adminCommand} key create acme --label "my client"

The file is DATABASE_PATH, ${context.databasePath}; the server may be running.`,
    );
  if (context.serve !== null) {
    const address = () => context.settings().address ?? context.origin();
    program.addCommand(serveCommand(context.serve)).addCommand(healthCommand(address));
  }
  addExamples(program);
  styleHelp(program);
  throwInsteadOfEnding(program);
  return program;
}

/** Titles of the help stand out on a terminal. */
function styleHelp(command: Command): void {
  command.configureHelp({ styleTitle: (title) => paint("bold", title) });
  for (const child of command.commands) styleHelp(child);
}

function throwInsteadOfEnding(command: Command): void {
  // What went wrong is printed by the caller, in one line.
  command.exitOverride().configureOutput({
    outputError: () => undefined,
    writeOut: (text) => void print(text),
  });
  for (const child of command.commands) throwInsteadOfEnding(child);
}
