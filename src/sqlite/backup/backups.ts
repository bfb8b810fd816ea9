/** Backups of the one file. */
import { rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Backup, Backups } from "../../store/backups.ts";
import { StoreError } from "../../store/errors.ts";
import { codeOf } from "../failure.ts";
import { removeLeftovers, trialFolderIn } from "../leftovers.ts";
import { makeBackup } from "./backup.ts";
import { restoreAside, restoreBackup } from "./restore.ts";

export function openBackups(path: string): Backups {
  return {
    make: (file, nowMs) => makeBackup(path, file, nowMs),
    drill: tryRestore,
    restore: (file, receipts, nowMs) => restoreBackup(path, file, receipts, nowMs),
  };
}

/**
 * The drill: restores a backup into a folder of its own, compares it with its manifest, and removes it. Throws a StoreError
 * that says how the restored file differs.
 */
function tryRestore(file: string): Backup {
  process.umask(0o077);
  removeLeftovers(dirname(resolve(file)));
  const folder = makeFolder(dirname(resolve(file)));
  try {
    const { manifest, found } = restoreAside(file, join(folder, "leadfile.db"));
    const differing = Object.entries(manifest.counts).find(([name, count]) => count !== countIn(found.counts, name));
    if (differing !== undefined) {
      const [name, count] = differing;
      throw new StoreError({
        kind: "restored other rows",
        file,
        table: name,
        found: countIn(found.counts, name),
        expected: count,
      });
    }
    if (found.content !== manifest.content) throw new StoreError({ kind: "restored other content", file });
    return { file, sha256: manifest.sha256, bytes: manifest.bytes, leads: found.counts.leads };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The place of the drill; throws a StoreError where a disk that only reads, or another user's, has none. */
function makeFolder(folder: string): string {
  try {
    return trialFolderIn(folder);
  } catch (cause) {
    throw new StoreError({ kind: "no place for a drill", folder, reason: codeOf(cause) }, { cause });
  }
}

function countIn(counts: Readonly<Record<string, number>>, name: string): number {
  return counts[name] ?? 0;
}
