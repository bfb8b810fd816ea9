/** Removes the residual bytes of a deletion, and reports the copies of the database that may still contain the erased data. */
import { basename, dirname } from "node:path";
import { openPlace } from "../backup/places.ts";
import { examineSettings, isS3, readBackups, readDatabasePath } from "../config.ts";
import { dayMs, dayOf } from "../contract/calendar.ts";
import { isFileOfNode, removeAbandonedDrafts, sizeOf } from "../db/database-files.ts";
import { innermost, orElse } from "../db/failure.ts";
import { findCopies, listOtherFiles, searchFile } from "../privacy/copies.ts";
import type { Matcher } from "../privacy/mentions.ts";
import { areResiduesLeft } from "../privacy/retention.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { printable, UserError } from "../runtime/user-error.ts";
import type { CommandContext } from "./command.ts";
import { bytesText, counted } from "./terminal/numbers.ts";

/** A file of this size takes seconds to rewrite. */
const manyBytes = 100_000_000;

/**
 * Removes the residual bytes of this deletion, and of earlier ones that were interrupted. If the command `hasDeleted` leads,
 * it reports the removal even if a server has removed the bytes in the meantime.
 */
export async function removeResidualBytes(context: CommandContext, hasDeleted: boolean): Promise<void> {
  const database = context.database();
  if (!hasDeleted && !areResiduesLeft(database.read)) return;
  const bytes = sizeOf(database.path);
  if (bytes >= manyBytes && !isFileOfNode(database.path)) {
    context.output.say(
      `Rewriting the file to remove residual bytes (${bytesText(bytes)}). Ctrl-C is safe: the leads stay erased, and the same ` +
        "command, or the server within a day, removes the bytes.",
    );
  }
  const nodes = await database.removeResidualBytes();
  if (nodes.length > 0)
    context.output.say(
      `No node has served the leads since ${(context.elapsedMs() / 1000).toFixed(1)} s after this command started. The files of ` +
        `${nodes.join(", ")} keep residual bytes until each is scrubbed: ${adminCommand} cluster scrub`,
    );
  else context.output.say(`${database.path} was rewritten: it and its log have no bytes of the deleted leads.`);
}

/**
 * Names every copy next to the database, every backup that is known, and every inbox folder that was ever used, and removes the
 * drafts of killed processes. With a matcher, files are searched for the persons.
 */
export async function sayCopies(context: CommandContext, matcher: Matcher<unknown> | null): Promise<void> {
  const say = (text: string, path: string) => context.output.say(`${text}: ${printable(path)}`);
  const place = orElse(readBackups, null);
  if (place !== null && !isS3(place.to)) orElse(() => removeAbandonedDrafts(place.to, 0), undefined);
  const copies = findCopies(context.database(), examineSettings().config?.inbox ?? null);
  const { files, backups, inboxes } = copies;
  for (const file of files) say(await textOf(file, matcher), file);
  const named = new Set(files);
  if (matcher !== null) {
    for (const file of listOtherFiles(readDatabasePath(), copies)) {
      const holds = await searchFile(file, matcher);
      if (holds === false) continue;
      named.add(file);
      say(holdsText(holds), file);
    }
  }
  const isInPlace = (file: string) => place !== null && (file === place.to || dirname(file) === place.to);
  for (const file of backups.filter((one) => !isInPlace(one) && !named.has(one)))
    say("This backup may still contain the erased data; a restore leaves this data out", file);
  const stored = await storedText(context, place);
  if (stored !== "") context.output.say(stored);
  for (const folder of inboxes)
    say("Files in this inbox folder, or copies of them, may still contain the erased data", folder);
}

async function textOf(file: string, matcher: Matcher<unknown> | null): Promise<string> {
  if (matcher === null)
    return "This copy may still contain the erased data. Delete the copy when you no longer need it";
  const holds = await searchFile(file, matcher);
  return holds === false ? "This copy was searched, and does not contain the erased data" : holdsText(holds);
}

function holdsText(holds: true | null): string {
  return holds === null
    ? "This file could not be searched"
    : "This file still contains the erased data. Delete the file when you no longer need it";
}

/**
 * Returns a sentence about the backups in BACKUP_TO that may still contain the erased data, and until when; empty if there are
 * none.
 */
async function storedText(context: CommandContext, place: ReturnType<typeof readBackups>): Promise<string> {
  if (place === null) return "";
  try {
    const backups = await openPlace(place.to, await (await context.installed()).store()).list(context.now());
    const [newest] = backups;
    if (newest === undefined) return "";
    const until = dayOf(Date.parse(newest.made_at) + place.keep * dayMs);
    const names = backups.map(({ file }) => basename(file)).join(", ");
    const them = `${counted("backup")(backups.length)} in ${place.to} may still contain the erased data: ${names}.`;
    return `${them} Daily rotation deletes the last of them by ${until}.`;
  } catch (cause) {
    // The erasure is complete, so this must not look like its failure.
    return `The backups could not be listed: ${cause instanceof UserError ? cause.sentence : innermost(cause)}`;
  }
}
