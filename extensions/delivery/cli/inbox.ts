/** bun admin inbox: imports files that are dropped into a folder. */
import { join, resolve } from "node:path";
import { Option } from "@commander-js/extra-typings";
import { type AnyCommand, type CommandContext, jsonCommand } from "../../../src/cli/command.ts";
import { pathFromShell, readInboxKeepDays } from "../../../src/config.ts";
import { findAccount, listAccounts } from "../../../src/db/accounts.ts";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { isFolder } from "../../../src/db/database-files.ts";
import { takeLock } from "../../../src/db/locks.ts";
import { recordInbox } from "../../../src/privacy/copies.ts";
import { statusOfService, stopSignal } from "../../../src/runtime/signals.ts";
import { UserError } from "../../../src/runtime/user-error.ts";
import { stillMs } from "../inbox/drop-folder.ts";
import { ImportProcess, importCommandOf } from "../inbox/import-process.ts";
import { Inbox } from "../inbox/inbox.ts";
import { isFolderOf, settingsIn } from "../inbox/settings.ts";
import { importWith, serveImports } from "./unattended.ts";

const lookEveryMs = 1_000;
/** A wait that is longer is explained. */
const announceMs = 3_000;

export function inboxCommand(context: CommandContext): AnyCommand {
  return jsonCommand("inbox", ["inbox /srv/leads", "inbox /srv/leads --once"])
    .argument("<DIR>", "folder that contains a folder for each account, named by its ID or exact name")
    .option("--once", "import the files that are there, then exit; for a timer")
    .addOption(new Option("--import", "run as the process that imports").hideHelp())
    .addHelpText(
      "after",
      `
A file that has not changed for 30 seconds is imported and moved to done/. If
an upload may stall for longer, upload it under a name that ends in .part, and
rename it when it is complete.
Rejected rows go to rejected/, and a file that could not be read to failed/,
with a .txt that gives the reason. import.json in the folder of an account sets
import options: {"pixel":"px_shop","timezone":"America/New_York"}. Files in
done/ and rejected/ are deleted after INBOX_KEEP_DAYS. --once ends with status 1
if a file was not imported.`,
    )
    .action((dir, options) =>
      options.import === true ? serveImports(context) : run(context, dir, options.once === true),
    );
}

async function run(context: CommandContext, named: string, once: boolean): Promise<void> {
  const dir = pathFromShell(named);
  if (!isFolder(dir)) {
    throw new UserError(`There is no folder ${dir}.`, "Create it, with a folder for each account in it.");
  }
  // A second inbox would import half of the files, and move them while the first one reads.
  const release = takeLock(join(resolve(dir), ".inbox"));
  if (release === null) {
    throw new UserError(`Another inbox watches ${dir}.`, "Stop it first, or name another folder.");
  }
  const database = context.database("create");
  let isRecorded = false;
  /** Records the folder, so that an erasure names it from now on: the files that were imported stay in it. */
  async function record(): Promise<void> {
    if (isRecorded) return;
    await recordInbox(database, dir, context.now());
    isRecorded = true;
  }
  await record().catch((cause: unknown) => {
    // The node of a cluster may be starting. No file is imported before the folder is recorded.
    if (!(cause instanceof DatabaseUnavailable)) throw cause;
  });
  const counts = { done: 0, failed: 0, later: 0 };
  const imports = new ImportProcess(importCommandOf(dir), context.now);
  const inbox = new Inbox(dir, {
    importOf(name, path) {
      const { read } = database;
      const account = findAccount(read, name) ?? listAccounts(read).find((one) => isFolderOf(one, name));
      if (account === undefined) throw new UserError("no account has this ID or name; its files remain pending.", "");
      const importFile = importWith(context, account.id, settingsIn(path), "uploads", imports);
      return async (file, rejects) => {
        await record();
        return importFile(file, rejects);
      };
    },
    source: "uploads",
    keepDays: readInboxKeepDays(),
    now: context.now,
    say: context.output.say,
    count: (kind, files) => {
      counts[kind] += files;
    },
  });
  if (!once && process.stderr.isTTY) {
    context.output.say(`Watching ${dir} until Ctrl-C. A file is imported when it has not changed for 30 seconds.`);
  }
  try {
    await lookOn(inbox, imports, context, stopSignal(), once);
  } finally {
    imports.end();
    release();
  }
  context.output.result(counts, "");
  if (once && counts.failed + counts.later > 0) context.setExitStatus(1);
}

/** Looks until it is told to stop, or once: until the files that are there now have been complete and were imported. */
export async function lookOn(
  inbox: Inbox,
  imports: ImportProcess,
  context: CommandContext,
  stop: AbortSignal,
  once = false,
): Promise<void> {
  stop.addEventListener("abort", imports.stop, { once: true });
  const startMs = context.now();
  let isAnnounced = false;
  do {
    const { isBusy, waiting } = await inbox.look();
    const waitedMs = context.now() - startMs;
    // A file that never stops growing is left to the next run.
    if (once && !isBusy && (waiting === 0 || waitedMs > stillMs + lookEveryMs)) return;
    if (once && !isAnnounced && waitedMs > announceMs && waiting > 0) {
      context.output.say("Files are imported when they have not changed for 30 seconds.");
      isAnnounced = true;
    }
    if (!isBusy) imports.end();
    await context.sleep(isBusy ? 0 : lookEveryMs, stop);
  } while (!stop.aborted);
  if (!once) context.setExitStatus(statusOfService(stop.reason));
}
