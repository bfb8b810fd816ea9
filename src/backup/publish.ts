/** Gives complete files their names: a crash leaves the old file or the new one at a path, never a part of one. */
import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { filesOf, giveToOwner, shmOf, sync } from "../db/database-files.ts";
import { codeOf } from "../db/failure.ts";

/** Gives a complete file its name. Throws if that is taken: no file is ever overwritten. */
export function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path);
    rmSync(draft);
  } catch (cause) {
    if (!isUnlinkable(cause)) throw cause;
    // A file system without hard links, such as a memory stick: an empty file takes the name first.
    closeSync(openSync(path, "wx", 0o600));
    renameSync(draft, path);
  }
}

/** Returns whether a file system has no hard links. */
function isUnlinkable(cause: unknown): boolean {
  return ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(codeOf(cause));
}

/** The name for a database that is replaced; null if there is none. Its log is renamed with it only if it was not copied into it. */
interface Replacing {
  readonly kept: string | null;
  readonly isLogCopied: boolean;
}

/** Gives a draft the name of a database, and the database another one. Until the draft has it, the path has the database. */
export function replaceDatabase(draft: string, target: string, { kept, isLogCopied }: Replacing): void {
  giveToOwner(draft, target);
  if (kept !== null) keep(target, kept);
  // SQLite would read the old log into the new file. If the old file lacks some of it, it is kept with that file.
  for (const file of filesOf(target).slice(1).filter(existsSync)) {
    if (kept !== null && !isLogCopied && file !== shmOf(target)) renameSync(file, kept + file.slice(target.length));
    else rmSync(file);
  }
  renameSync(draft, target);
  sync(dirname(target));
}

function keep(target: string, kept: string): void {
  try {
    linkSync(target, kept);
  } catch (cause) {
    if (!isUnlinkable(cause)) throw cause;
    // A file system without hard links: until the draft has the name, nothing has it.
    renameSync(target, kept);
  }
}

/** Returns a name that no file has: the given one, or one with a number. */
export function freeName(name: string): string {
  for (let number = 2, free = name; ; free = `${name}-${number++}`) if (!existsSync(free)) return free;
}
