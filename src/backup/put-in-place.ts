/** Puts a draft in the place of the database. At every moment the old file or the new one is there. */
import { existsSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { writeMoment } from "../contract/time.ts";
import { copyOpen, giveToOwner, isUnlinkable, sync } from "../db/atomic-file.ts";
import { sizeOf } from "../db/file.ts";
import { filesOf, shmOf } from "../store/database-files.ts";
import { type Replaced, refuseOpen } from "./old-database.ts";

/**
 * Gives a draft the name of the database. Returns the name under which the old file is kept; null where there was none.
 * Throws a StoreError where somebody has made one meanwhile.
 */
export function putInPlace(draft: string, target: string, replaced: Replaced, nowMs: number): string | null {
  if (replaced === "nothing there" && sizeOf(target) > 0) refuseOpen(target);
  const kept = existsSync(target)
    ? freeName(`${target}.replaced-${writeMoment(nowMs).replaceAll(/[:.]/g, "-")}`)
    : null;
  giveToOwner(draft, target);
  if (kept !== null) keep(target, kept);
  // The log goes: SQLite would read it into the new file. Where the old file has not all of it, it is kept with that.
  for (const file of filesOf(target).slice(1).filter(existsSync)) {
    if (kept !== null && replaced !== "attached" && file !== shmOf(target))
      renameSync(file, kept + file.slice(target.length));
    else rmSync(file);
  }
  renameSync(draft, target);
  sync(dirname(target));
  return kept;
}

function freeName(name: string): string {
  for (let number = 2, free = name; ; free = `${name}-${number++}`) if (!existsSync(free)) return free;
}

function keep(target: string, kept: string): void {
  try {
    linkSync(target, kept);
  } catch (cause) {
    if (!isUnlinkable(cause)) throw cause;
    // Left open until the process ends: to close it drops the lock on the old file, and others would write into it.
    copyOpen(openSync(target, "r"), kept);
  }
}
