/** Removes what processes that were killed have left: drafts of files, and folders in which backups were tried. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf } from "./failure.ts";
import { isSqlite } from "./file.ts";

/** As `draftOf` names them: the file, its maker, and what SQLite keeps beside, which is -mj while it locks two files. */
const draftName = /^(.+)\.draft-(\d+)(?:-wal|-shm|-journal|-mj\w+)?$/;
const trialName = /^\.leadfile-drill-(\d+)-/;
/** Another machine or container may share the folder, and its processes are not ours to see. */
const untouchedMs = 3_600_000;

/** A folder of its own to try a backup in; its name says which process made it. */
export function trialFolderIn(folder: string): string {
  return mkdtempSync(join(folder, `.leadfile-drill-${process.pid}-`));
}

/** Removes the drafts of one file whose processes are gone. */
export function removeStaleDrafts(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    const [, file, maker] = draftName.exec(name) ?? [];
    if (file === basename(path) && !isAlive(Number(maker))) {
      rmSync(join(dirname(path), name), { recursive: true, force: true });
    }
  }
}

/** Removes from a folder the drafts and trials of any backup whose processes are gone, and that lie there for an hour. */
export function removeLeftovers(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const maker = entry.isDirectory() ? trialName.exec(entry.name)?.[1] : draftName.exec(entry.name)?.[2];
    if (maker === undefined || isAlive(Number(maker))) continue;
    try {
      if (Date.now() - statSync(path).mtimeMs < untouchedMs) continue;
      if (entry.isDirectory() || isOurs(path)) rmSync(path, { recursive: true, force: true });
    } catch {
      // A backup goes on where a file belongs to another user, or has just gone.
    }
  }
}

/** Looks at the content, too: a letter of somebody may also be called a draft. */
function isOurs(path: string): boolean {
  return /-(?:wal|shm|journal)$/.test(path) || isSqlite(path);
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // A process of somebody else is alive as well.
    return codeOf(cause) === "EPERM";
  }
}
