/** bun admin inbox: files that are dropped into a folder become leads by themselves. */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type CommandContext, jsonCommand, outputOf } from "../../../src/cli/command.ts";
import { destinationWith, importUnattended } from "../../../src/cli/lead/import/unattended.ts";
import { findAccount } from "../../../src/db/accounts.ts";
import { takeLock } from "../../../src/db/locks/process-lock.ts";
import { type EndingSignal, statusOfService } from "../../../src/operator/ending-signals.ts";
import { UserError } from "../../../src/user-error.ts";
import { type Inbox, openInbox } from "../inbox/inbox.ts";
import { settingsIn } from "../inbox/settings.ts";

interface InboxOptions {
  readonly once?: boolean;
  readonly json?: boolean;
}

/** A file is complete when it has not changed for two seconds. */
const lookEveryMs = 1_000;
const settleMs = 2_100;

export function inboxCommand(context: CommandContext): Command {
  return jsonCommand("inbox")
    .description("import files that are dropped into a folder, until Ctrl-C")
    .argument("<DIR>", "in it a folder for each account, named by its id or exact name")
    .option("--once", "import what is there, then end, for a timer")
    .addOption(new Option("--companion").hideHelp())
    .addHelpText(
      "after",
      `
A file that has not changed for two seconds is imported, then lies in done/.
Upload it under a name that ends in .part, and rename it when it is complete.
Rejected rows lie in rejected/, a file that could not be read in failed/, beside
a text that says why. import.json in the folder of an account says how its files
are read: {"pixel":"px_shop","timezone":"America/New_York"}. --once ends with
status 1 where a file was not imported.`,
    )
    .action((dir: string, options: InboxOptions) => run(context, dir, options));
}

async function run(context: CommandContext, dir: string, options: InboxOptions): Promise<void> {
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UserError(`There is no folder ${dir}.`, "Make it, with a folder for each account in it.");
  }
  // A second inbox would import half of the files, and move them while the first one reads.
  const release = takeLock(join(resolve(dir), ".inbox"));
  if (release === null) {
    throw new UserError(`Another inbox watches ${dir}.`, "End that first, or watch another folder.");
  }
  const output = outputOf(options);
  const counts = { done: 0, failed: 0, later: 0 };
  const inbox = openInbox(dir, {
    destinationOf(name, path) {
      const account = findAccount(context.database().read, name);
      if (account === null) return { fault: "no account has this id or name; its files stay where they are." };
      return destinationWith(context, account.id, settingsIn(path));
    },
    importFile: (destination, file, rejects) =>
      importUnattended(context, destination, file, rejects, { ofDeliveries: false }),
    whenDone: "keep",
    now: context.now,
    say: output.say,
    count: ({ kind }) => counts[kind]++,
  });
  try {
    if (options.once === true) await lookOnce(inbox, context);
    else await lookOn(inbox, context);
  } finally {
    release();
  }
  output.result(counts, "");
  if (options.once === true && counts.failed + counts.later > 0) context.endWith(1);
}

/** Takes what is complete now, or in two seconds. */
async function lookOnce(inbox: Inbox, context: CommandContext): Promise<void> {
  const waiting = await inbox.look();
  if (waiting > 0 && !(await context.pause(settleMs))) await inbox.look();
}

/** Looks until it is told to end. */
export async function lookOn(inbox: Inbox, context: CommandContext): Promise<void> {
  let signal: EndingSignal | null;
  do {
    await inbox.look();
    signal = await context.pause(lookEveryMs);
  } while (signal === null);
  context.endWith(statusOfService(signal));
}
