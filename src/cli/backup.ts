/** bun admin backup and restore: copies of the whole file. */

import { existsSync } from "node:fs";
import type { Command } from "commander";
import { readDatabasePath } from "../config.ts";
import { endingSignals, statusAfter } from "../operator/ending-signals.ts";
import type { Merged, Restoration } from "../store/backups.ts";
import { UserError } from "../user-error.ts";
import { type CommandContext, jsonCommand, outputOf } from "./command.ts";
import { grouped, leadsText } from "./terminal/numbers.ts";
import type { Output } from "./terminal/output.ts";
import { stopSignal } from "./terminal/signals.ts";

export function backupCommand(context: CommandContext): Command {
  return jsonCommand("backup")
    .description("make a consistent copy while the server runs, with FILE.manifest.json beside it")
    .argument("<FILE>", "a file that is not there yet")
    .option("--drill", "test FILE: restore it into a temporary place and compare; makes FILE first if there is none")
    .action(async (file: string, options: { drill?: boolean; json?: boolean }) => {
      const output = outputOf(options);
      const backups = context.backups();
      const isThere = options.drill === true && existsSync(file);
      const made = isThere ? null : await unlessStopped(backups.make(file, context.now(), stopSignal), noBackup);
      const backup =
        made !== null && options.drill !== true
          ? made
          : await unlessStopped(backups.drill(file, stopSignal), `${file} is there, and was not tested to the end.`);
      const drilled = options.drill === true ? " Restored into a temporary place, it is the same." : "";
      const { sha256, bytes, leads } = backup;
      output.result(
        { file, sha256, bytes, leads },
        `${file} has ${leadsText(leads)} in ${grouped(bytes)} bytes.${drilled}`,
      );
      if (made === null) return;
      output.say(`It holds personal data: keep it, and ${file}.manifest.json, as safe as the database.`);
      if (made.unrecorded !== null)
        output.say(`Warning: the database could not take it into the audit (${made.unrecorded}).`);
    });
}

export function restoreCommand(context: CommandContext): Command {
  return jsonCommand("restore")
    .description("put a backup in the place of the database; the server must be stopped")
    .argument("<FILE>", "a backup with its manifest beside it")
    .option(
      "--receipts <FILE>",
      "erase again the persons of these receipts, one on each line, as lead erase printed them",
    )
    .action(async (file: string, options: { receipts?: string; json?: boolean }) => {
      const output = outputOf(options);
      const restoring = context.backups().restore(file, options.receipts ?? null, context.now(), stopSignal);
      const restored = await unlessStopped(restoring, `${readDatabasePath()} is as it was.`);
      const { leads, erasedAgain } = restored;
      const again =
        erasedAgain === 0
          ? ""
          : `; ${leadsText(erasedAgain)} of persons who were erased ${erasedAgain === 1 ? "is" : "are"} erased again`;
      output.result({ leads, erased_again: erasedAgain }, `${readDatabasePath()} has ${leadsText(leads)} now${again}.`);
      sayRestored(output, restored);
    });
}

const noBackup = "There is no backup, and nothing is left of what was copied.";

/** Throws a UserError where a signal has stopped the work: `left` says what there is then. */
async function unlessStopped<Result>(work: Promise<Result>, left: string): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    const signal = endingSignals.find((signal) => signal === cause);
    if (signal === undefined) throw cause;
    throw new UserError(`Stopped. ${left}`, "Run it again to complete it.", statusAfter[signal]);
  }
}

function sayRestored(output: Output, { older, merged, unblockedSince, unread, isSinceKnown, kept }: Restoration): void {
  if (older > 0) output.say(`Left out: ${leadsText(older)} of accounts that do not keep leads for so long.`);
  if (merged.length > 0) output.say(mergedText(merged));
  if (unblockedSince > 0) output.say(unblockedText(unblockedSince));
  if (unread.length > 0) output.say(unreadText(unread));
  if (!isSinceKnown) output.say(`There was no file here that knows more than the backup. ${doAgain}`);
  if (kept !== null) output.say(`The file before is kept, delete it when you can: ${kept}`);
}

function mergedText(merged: readonly Merged[]): string {
  const parts = merged.map(({ name, count }) => `${name} (${grouped(count)})`);
  return `Brought over from the file before, because it is newer than the backup: ${parts.join(", ")}.`;
}

function unblockedText(count: number): string {
  return (
    `Warning: since the backup, lead unblock has run ${count === 1 ? "once" : `${grouped(count)} times`}. If the backup is ` +
    "older than the erasure, the erased leads are back, unless --receipts had the receipt: erase them again. If it is newer, " +
    "the block is back."
  );
}

const doAgain =
  "What was erased, revoked or set since the backup may be undone: do it again (restore --receipts FILE takes receipts " +
  "of erasures).";

function unreadText(unread: readonly string[]): string {
  return `Warning: the file before is damaged, and these could not be read from it: ${unread.join(", ")}. ${doAgain}`;
}
