/** A backup: a consistent copy of the file, made while others use it, with its manifest beside it. */
import { Database } from "bun:sqlite";
import { existsSync, rmSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { writeMoment } from "../contract/time.ts";
import { copyDigesting, draftOf, nameDraft, sync, writeDraft } from "../db/atomic-file.ts";
import { recordAct } from "../db/audit.ts";
import type { Connection } from "../db/connection.ts";
import { asStoreError, codeOf, isDamaged, isFull, saidBy } from "../db/failure.ts";
import { removeLeftovers, removeStaleDrafts } from "../db/leftovers.ts";
import { schemaVersion } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import { copyWal } from "../db/wal.ts";
import type { MadeBackup } from "../store/backups.ts";
import { filesOf } from "../store/database-files.ts";
import { innermost, type Problem, StoreError } from "../store/errors.ts";
import type { AuditEntry } from "../store/privacy.ts";
import { contentOf, type Manifest, manifestPath } from "./manifest.ts";

/** The names under which a backup and its manifest are made. */
export function draftsOf(file: string): readonly [backup: string, manifest: string] {
  return [draftOf(file), draftOf(manifestPath(file))];
}

/**
 * Makes a backup; throws a StoreError when it cannot. The caller removes the drafts. `complete` is called once, when only
 * what cannot be stopped is left to do.
 */
export function makeBackup(path: string, file: string, nowMs: number, complete: () => void): MadeBackup {
  refuseTaken(path, file);
  if (!existsSync(path)) {
    throw new StoreError({ kind: "nothing to back up", path });
  }
  const database = openDatabase(path);
  const drafts = draftsOf(file);
  try {
    for (const name of [file, manifestPath(file)]) removeStaleDrafts(name);
    removeLeftovers(dirname(resolve(file)));
    // Copying page by page would begin again at every write of the server. This reads one state to its end, and copies
    // only what lives: nothing that was erased gets into a backup from a free page.
    database.run(sql`VACUUM INTO ${drafts[0]}`);
    const manifest = describe(drafts[0], file, nowMs);
    sync(drafts[0]);
    complete();
    writeDraft(drafts[1], `${JSON.stringify(manifest, null, 2)}\n`);
    // The manifest comes first: when the backup has its name, both are complete.
    nameDraft(drafts[1], manifestPath(file));
    try {
      nameDraft(drafts[0], file);
    } catch (cause) {
      rmSync(manifestPath(file), { force: true });
      throw cause;
    }
    sync(dirname(resolve(file)));
    const { sha256, bytes } = manifest;
    const { leads } = manifest.counts;
    const unrecorded = record(database, nowMs, { sha256, leads });
    return { file, sha256, bytes, leads, unrecorded };
  } catch (cause) {
    throw asStoreError(cause, (said) => problemOf(said, file));
  } finally {
    database.$client.close();
  }
}

/** The backup is whole by now. It counts, even where the database takes nothing more; gives the reason. */
function record(database: Connection, nowMs: number, detail: AuditEntry["detail"]): string | null {
  try {
    recordAct(database, { atMs: nowMs, act: "backup", account: null, detail });
    // A thread ends without closing its connection wholly, which would copy it.
    copyWal(database);
    return null;
  } catch (cause) {
    return innermost(cause);
  }
}

function refuseTaken(path: string, file: string): void {
  const folder = dirname(resolve(file));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StoreError({ kind: "no such folder", folder });
  }
  if (filesOf(resolve(path)).includes(resolve(file))) {
    throw new StoreError({ kind: "part of the database", file });
  }
  const taken = [file, manifestPath(file)].find((name) => existsSync(name));
  if (taken !== undefined) throw new StoreError({ kind: "name taken", file: taken });
}

function describe(draft: string, file: string, nowMs: number): Manifest {
  const { sha256, bytes } = copyDigesting(draft, null);
  using client = new Database(draft, { readonly: true });
  const database = drizzle({ client });
  return {
    file: basename(file),
    sha256,
    bytes,
    schema: schemaVersion(database),
    made_at: writeMoment(nowMs),
    ...contentOf(database),
  };
}

function problemOf(cause: unknown, file: string): Problem | null {
  if (isFull(cause)) return { kind: "disk of the backup full", file };
  if (codeOf(cause) === "EEXIST") return { kind: "name taken just now", file };
  if (isDamaged(cause)) return { kind: "database damaged" };
  const reason = saidBy(cause);
  return reason === null ? null : { kind: "backup not written", file, reason };
}
