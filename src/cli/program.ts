/** bun admin: one command per noun and verb. */
import { Command, type CommanderError } from "commander";
import { readDatabasePath } from "../config.ts";
import { loadExtensions, packageCommands } from "../extensions.ts";
import { adminCommand, build } from "../program-name.ts";
import { UserError } from "../user-error.ts";
import type { CommandContext, CommandEntry } from "./command.ts";
import { addExamples, examples } from "./examples.ts";
import { print } from "./terminal/output.ts";
import { paint } from "./terminal/paint.ts";

type Load = CommandEntry["load"];

/** The commands of the core. The list of commands is shown without loading any. */
const commands: readonly (readonly [name: string, description: string, load: Load])[] = [
  ["account", "accounts and their subscriptions", async () => (await import("./account.ts")).accountCommand],
  ["pixel", "the pixels of an account", async () => (await import("./pixel.ts")).pixelCommand],
  ["key", "API keys", async () => (await import("./key.ts")).keyCommand],
  [
    "lead",
    "import and export leads, find and erase a person, or unblock one",
    async () => (await import("./lead/lead.ts")).leadCommand,
  ],
  ["import", "list imports, and undo one", async () => (await import("./import.ts")).importsCommand],
  [
    "stats",
    "leads per day, by pixel, state and source, and requests per key and day",
    async () => (await import("./stats/stats.ts")).statsCommand,
  ],
  [
    "doctor",
    "look for problems with the file, the settings and the disk",
    async () => (await import("./doctor/doctor.ts")).doctorCommand,
  ],
  ["receipt", "the receipts of erasures", async () => (await import("./receipt.ts")).receiptCommand],
  [
    "retain",
    "erase leads older than some days, now and daily",
    async () => (await import("./retain.ts")).retainCommand,
  ],
  ["backup", "make a consistent copy while the server runs", async () => (await import("./backup.ts")).backupCommand],
  [
    "restore",
    "replace the database with a backup; the server must be stopped",
    async () => (await import("./restore.ts")).restoreCommand,
  ],
  [
    "upgrade",
    "upgrade the database to this version, or try that on a copy",
    async () => (await import("./upgrade.ts")).upgradeCommand,
  ],
  [
    "watch",
    "make the daily backups and send the alerts of the settings, until it is stopped",
    async () => (await import("./watch.ts")).watchCommand,
  ],
  ["audit", "what was done with the database, and when", async () => (await import("./audit.ts")).auditCommand],
  [
    "demo",
    "create an account with three pixels, 1,000 made-up leads and a key",
    async () => (await import("./demo/demo.ts")).demoCommand,
  ],
];

/** Where one executable is all of Leadfile, it starts the server as well. */
const executableCommands: typeof commands = [
  [
    "serve",
    "start the server; settings come from the environment",
    async () => (await import("./server.ts")).serveCommand,
  ],
  [
    "health",
    "ask the running server whether it can read its database",
    async () => (await import("./server.ts")).healthCommand,
  ],
];

/** All entries, also those of the extensions that are there. */
async function listEntries(): Promise<CommandEntry[]> {
  const extensions = await loadExtensions();
  return [...coreEntries(), ...extensions.flatMap((extension) => extension.commands), ...packageCommands];
}

function coreEntries(): CommandEntry[] {
  const own = Bun.isStandaloneExecutable ? [...commands, ...executableCommands] : commands;
  return own.map(([name, description, load]) => ({ name, description, load, examples }));
}

/**
 * The command line for some words. Only the command that they name is loaded; `words` is `all` to load every command. It
 * throws instead of ending the process, so that the caller can close the database.
 */
export async function createProgram(words: readonly string[] | "all", context: CommandContext): Promise<Command> {
  const program = new Command(adminCommand)
    .description("Looks after a Leadfile database: accounts, pixels, keys and leads.")
    .version(build)
    .addHelpText("after", firstSteps);
  const wanted = words[0] === "help" ? words[1] : words[0];
  const own = coreEntries().find(({ name }) => name === wanted);
  // The extensions need not be loaded for a command of the core.
  const entries = own === undefined ? await listEntries() : [own];
  for (const entry of entries) {
    const isLoaded = words === "all" || entry.name === wanted;
    const command = isLoaded ? (await entry.load())(context) : new Command(entry.name);
    program.addCommand(command.description(entry.description));
    addExamples(command, entry.examples, entry.name);
  }
  for (const command of withChildren(program)) {
    styleHelp(command);
    throwInsteadOfEnding(command);
    refuseRepeats(command);
  }
  return program;
}

function firstSteps(): string {
  const serve = Bun.isStandaloneExecutable ? `\n  ${adminCommand} serve` : "";
  return `
First steps:
  ${adminCommand} account create acme
  ${adminCommand} lead import acme export.csv --create-pixels
  ${adminCommand} key create acme --label "my client"${serve}

The file is DATABASE_PATH, ${readDatabasePath()}; the server may be running.`;
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

/** The programs of packages/ end with messages and codes of their own; commander's codes mean a usage error. */
function wrongUse({ message, code, exitCode }: CommanderError, command: Command): UserError {
  if (!code.startsWith("commander.")) return new UserError(message, "", exitCode === 2 ? 2 : 1);
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
