/** The drill: a backup is restored into a folder of its own, and compared with its manifest. */
import { join } from "node:path";
import type { Backup } from "../store/backups.ts";
import { StoreError } from "../store/errors.ts";
import { restoreAside } from "./restore.ts";

/** Throws a StoreError that says how the restored file differs. The caller removes the folder. */
export function tryRestore(file: string, folder: string): Backup {
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
}

function countIn(counts: Readonly<Record<string, number>>, name: string): number {
  return counts[name] ?? 0;
}
