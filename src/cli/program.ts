/** bun admin: one command per noun and verb. */
import { Command, type CommanderError } from "@commander-js/extra-typings";
import { readDatabasePath } from "../config.ts";
import { adminCommand, build, startCommand } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";
import {
  AdminCommand,
  type AnyCommand,
  type CommandContext,
  type CommandEntry,
  examplesText,
  type MakeCommand,
} from "./command.ts";
import { paint, print } from "./terminal/output.ts";

/** A command whose module exports it as `nameCommand`. */
function entry<Name extends string>(
  name: Name,
  description: string,
  load: () => Promise<Readonly<Record<`${Name}Command`, MakeCommand>>>,
): CommandEntry {
  return { name, description, load: async () => (await load())[`${name}Command`] };
}

/** The commands of the core. The help lists them without loading any. */
const commands: readonly CommandEntry[] = [
  entry("account", "accounts and their subscriptions", () => import("./account.ts")),
  entry("pixel", "the pixels of an account", () => import("./pixel.ts")),
  {
    name: "key",
    description: "API keys",
    examples: ['key create acme --label "nightly export"', "key list acme", "key check < key.txt"],
    load: {
      create: async () => (await import("./key/create.ts")).createCommand,
      rotate: async () => (await import("./key/create.ts")).rotateCommand,
      list: async () => (await import("./key/show.ts")).listCommand,
      revoke: async () => (await import("./key/revoke.ts")).revokeCommand,
      check: async () => (await import("./key/show.ts")).checkCommand,
    },
  },
  {
    name: "lead",
    description: "import and export leads; find, erase, and unblock persons",
    examples: ["lead import acme export.csv --create-pixels", "lead export acme > leads.ndjson"],
    load: {
      import: async () => (await import("./lead/import/command.ts")).importCommand,
      export: async () => (await import("./lead/export.ts")).exportCommand,
      find: async () => (await import("./lead/find.ts")).findCommand,
      erase: async () => (await import("./lead/erase.ts")).eraseCommand,
      unblock: async () => (await import("./lead/unblock.ts")).unblockCommand,
    },
  },
  entry("import", "list and undo imports", () => import("./import-history.ts")),
  entry("doctor", "check the database, the settings, and the disk for problems", () => import("./doctor/doctor.ts")),
  entry("receipt", "the receipts of erasures", () => import("./audit.ts")),
  entry("retain", "set a retention period: erase older leads now and daily", () => import("./retain.ts")),
  entry("backup", "back up the database while the server runs", () => import("./backup.ts")),
  entry("restore", "replace the database with a backup; the server must be stopped", () => import("./restore.ts")),
  entry("upgrade", "upgrade the database to this version, or test the upgrade on a copy", () => import("./backup.ts")),
  entry("audit", "the audit log, which has no personal data", () => import("./audit.ts")),
  entry("completions", "print a script that completes commands in a shell", () => import("./completions.ts")),
  entry("demo", "create an account with three pixels, 1,000 sample leads, and a key", () => import("./demo/demo.ts")),
];

/** Commands of the executable, which is also the server. */
const executableCommands: readonly CommandEntry[] = [
  entry("serve", "start the server; settings come from the environment", () => import("./server.ts")),
  entry("health", "check whether the running server can read its database", () => import("./server.ts")),
];

/**
 * The command line for some words. Only the command that they name is loaded; `words` is `all` to load every command. It
 * throws instead of ending the process, so that the caller can close the database.
 */
export async function createProgram(words: readonly string[] | "all", context: CommandContext): Promise<AnyCommand> {
  const program: AnyCommand = new Command(adminCommand)
    .description("Manages a Leadfile database: accounts, pixels, keys, and leads.")
    .version(build)
    .addHelpText("after", firstSteps);
  const own = Bun.isStandaloneExecutable ? [...commands, ...executableCommands] : commands;
  // A script for a shell lists every command.
  const isAll = words === "all" || words[0] === "completions";
  const [noun, verb] = isAll ? [] : words.filter((word) => word !== "help");
  const found = own.filter(({ name }) => name === noun);
  // The extensions need not be loaded for a command of the core.
  for (const entry of found.length > 0 ? found : [...own, ...(await (await context.installed()).commands())]) {
    const isLoaded = isAll || entry.name === noun;
    const command = isLoaded ? await loadCommand(entry, verb, context) : new Command(entry.name);
    program.addCommand(command.description(entry.description));
  }
  for (const command of withChildren(program)) {
    if (command instanceof AdminCommand) command.addHelpText("after", examplesText(command.examples));
    // Commander would leave a narrow terminal to wrap the lines of the help itself, within words.
    command.configureHelp({ styleTitle: (title) => paint("bold", title), minWidthToWrap: 20 });
    throwInsteadOfEnding(command);
    refuseRepeats(command);
  }
  return program;
}

/** Loads a command. If it has subcommands, loads the one that is called, or all of them. */
async function loadCommand(
  { name, load, examples }: CommandEntry,
  verb: string | undefined,
  context: CommandContext,
): Promise<AnyCommand> {
  if (typeof load === "function") {
    const command = (await load())(context);
    return examples === undefined ? command : command.addHelpText("after", examplesText(examples));
  }
  const command = new AdminCommand(name, examples ?? []);
  const called = Object.entries(load).filter(([below]) => below === verb);
  for (const [, loadBelow] of called.length > 0 ? called : Object.entries(load)) {
    command.addCommand((await loadBelow())(context));
  }
  return command;
}

function firstSteps(): string {
  return `
First steps:
  ${adminCommand} account create acme
  ${adminCommand} lead import acme export.csv --create-pixels
  ${adminCommand} key create acme --label "my client"
  ${startCommand}

Commands can run while the server runs, except restore. The database is
${readDatabasePath()} (DATABASE_PATH).`;
}

/** Returns a command and all commands below it. */
function withChildren(command: AnyCommand): AnyCommand[] {
  return [command, ...command.commands.flatMap(withChildren)];
}

/** Commander would end the process. The caller ends it instead, and prints the reason in one line. */
function throwInsteadOfEnding(command: AnyCommand): void {
  command.exitOverride((error) => {
    throw isHelp(error) ? error : usageError(error, command);
  });
  command.configureOutput({ outputError: () => undefined, writeOut: (text) => void print(text) });
}

/** Commander would silently use the last value: an erasure with two addresses would ignore the first. */
function refuseRepeats(command: AnyCommand): void {
  for (const option of command.options.filter(({ required }) => required)) {
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) throw new UserError(`${option.long} can be passed only once.`, helpOf(command), 2);
      isGiven = true;
    });
  }
}

/** Commander also throws for --help and --version, and for a noun without a verb, after it has printed the help. */
function isHelp({ code, exitCode }: CommanderError): boolean {
  return exitCode === 0 || code === "commander.help";
}

/** The programs of packages/ have their own messages and exit codes; commander's codes mean a usage error. */
function usageError({ message, code, exitCode }: CommanderError, command: AnyCommand): UserError {
  if (!code.startsWith("commander.")) return new UserError(message, "", exitCode === 2 ? 2 : 1);
  const said = message.replace(/^error: /, "").replace(/\.?$/, ".");
  return new UserError(`${said[0]?.toUpperCase()}${said.slice(1)}`, helpOf(command), 2);
}

function helpOf(command: AnyCommand): string {
  return `For help, run: ${pathOf(command)} --help`;
}

/** Returns the words that call a command, such as `bun admin lead import`. */
function pathOf(command: AnyCommand): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
