/** bun admin: one command per noun and verb. */
import { Command, type CommanderError } from "commander";
import { clusterCommand } from "../../extensions/cluster/cli/cluster.ts";
import { inboxCommand } from "../../extensions/delivery/cli/inbox.ts";
import { receiveCommand } from "../../extensions/delivery/cli/receive.ts";
import { sourceCommand } from "../../extensions/delivery/cli/source.ts";
import { followCommand } from "../../packages/client/program/follow.ts";
import { conformanceCommand } from "../../packages/conformance/src/command.ts";
import { mcpCommand } from "../../packages/mcp/src/mcp.ts";
import { adminCommand } from "../program-name.ts";
import { UserError } from "../user-error.ts";
import { build } from "../version.ts";
import { accountCommand } from "./account.ts";
import { auditCommand } from "./audit.ts";
import { backupCommand, restoreCommand } from "./backup.ts";
import type { CommandContext } from "./command.ts";
import { completionsCommand } from "./completions/completions.ts";
import { demoCommand } from "./demo/demo.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import { addExamples } from "./examples.ts";
import { importsCommand } from "./import.ts";
import { keyCommand } from "./key/key.ts";
import { leadCommand } from "./lead/lead.ts";
import { pixelCommand } from "./pixel.ts";
import { retainCommand } from "./retain.ts";
import { healthCommand, serveCommand } from "./server.ts";
import { statsCommand } from "./stats/stats.ts";
import { print } from "./terminal/output.ts";
import { paint } from "./terminal/paint.ts";

/** The whole command line. It throws instead of ending the process, so that the caller can close the store. */
export function createProgram(context: CommandContext): Command {
  const program: Command = new Command(adminCommand)
    .description("Looks after a Leadfile database: accounts, pixels, keys and leads.")
    .version(build)
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
  if (context.process.serve !== null) {
    const address = () => context.environment.settings().address ?? context.environment.origin();
    program.addCommand(serveCommand(context.process.serve)).addCommand(healthCommand(address));
  }
  addExamples(program);
  for (const command of withChildren(program)) {
    styleHelp(command);
    throwInsteadOfEnding(command);
    refuseRepeats(command);
  }
  return program;
}

/** A command and all below it. */
function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}

/** Titles of the help stand out on a terminal, and its lines fit. */
function styleHelp(command: Command): void {
  // On a narrow terminal commander would leave it to the terminal, which breaks words.
  command.configureHelp({ styleTitle: (title) => paint("bold", title), minWidthToWrap: 20 });
}

/** Commander would end the process. The caller ends it, and says in one line what was wrong. */
function throwInsteadOfEnding(command: Command): void {
  command.exitOverride((error) => {
    throw isHelp(error) ? error : wrongUse(error, command);
  });
  command.configureOutput({ outputError: () => undefined, writeOut: (text) => void print(text) });
}

/** Commander would take the last value in silence: an erasure with two addresses would leave the first. */
function refuseRepeats(command: Command): void {
  for (const option of command.options.filter(({ required }) => required)) {
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) throw new UserError(`${option.long} takes one value, and is given twice.`, helpOf(command), 2);
      isGiven = true;
    });
  }
}

/** Commander throws for --help and --version, and for a noun without a verb, whose help it has shown. */
function isHelp({ code, exitCode }: CommanderError): boolean {
  return exitCode === 0 || code === "commander.help";
}

function wrongUse({ message }: CommanderError, command: Command): UserError {
  const said = message.replace(/^error: /, "").replace(/\.?$/, ".");
  return new UserError(`${said[0]?.toUpperCase()}${said.slice(1)}`, helpOf(command), 2);
}

function helpOf(command: Command): string {
  return `${pathOf(command)} --help shows how.`;
}

/** The words that call a command, such as `bun admin lead import`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
