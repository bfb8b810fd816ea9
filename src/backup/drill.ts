/** Tests a backup or an upgrade on a copy: with the code of a restore, in a temporary folder, comparing every lead. */
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { closing, DatabaseUnavailable } from "../db/connection.ts";
import { noDatabase } from "../db/failure.ts";
import { createDraftFolder, freeBytesAt } from "../db/files.ts";
import { lastBuild, pendingMigrations } from "../db/migrate.ts";
import { build } from "../program-name.ts";
import { UserError } from "../user-error.ts";
import { type Backup, copyUnchanged } from "./backup.ts";
import { rememberErasures } from "./erasures.ts";
import { readManifest } from "./manifest.ts";
import { explainBackupFailure, merge, openDraft } from "./restore.ts";
import { inThread } from "./thread.ts";

/** Tests a backup. Throws a UserError that says how the restored file differs. Nothing is left behind. */
export async function drill(file: string, nowMs: number, stop: AbortSignal): Promise<Backup> {
  using folder = createDraftFolder(dirname(resolve(file)));
  return await inThread<Backup>("drillBackup", { file, folder: folder.path, nowMs }, stop);
}

interface Trial {
  readonly folder: string;
  readonly nowMs: number;
}

/** Restores a backup into a draft, in the worker thread, and checks it. */
export async function drillBackup({ file, folder, nowMs }: Trial & { readonly file: string }): Promise<Backup> {
  try {
    const manifest = readManifest(file);
    using database = closing(await openDraft(file, join(folder, "leadfile.db"), manifest));
    rememberErasures(database);
    const { leads, retainedOut } = merge(database, { replaced: "nothing there", receipts: [], manifest, nowMs });
    const { sha256, bytes, counts } = manifest;
    // openDraft has compared all content with the manifest. The merge only deletes leads, so counting is enough.
    const lost = counts.leads - leads - retainedOut;
    if (lost > 0)
      throw new UserError(`${file} was restored, but ${lost} of its leads are missing.`, "Make a new backup.");
    return { file, sha256, bytes, leads: counts.leads };
  } catch (cause) {
    const failure = explainBackupFailure(cause, file, file);
    // A full disk says nothing about the backup.
    if (!(failure instanceof UserError) || failure instanceof DatabaseUnavailable) throw failure;
    throw new UserError(`The drill failed: ${failure.message}`, "Make a new backup, and test that one.");
  }
}

/**
 * Upgrades a copy of the database and compares its content with that before the upgrade. Changes nothing. Throws a
 * UserError if the copy differs.
 */
export async function tryUpgrade(path: string, nowMs: number, stop: AbortSignal) {
  if (!existsSync(path)) throw noDatabase(path);
  using folder = createDraftFolder(dirname(path));
  return await inThread<Awaited<ReturnType<typeof upgradeCopy>>>(
    "upgradeCopy",
    { path, folder: folder.path, nowMs },
    stop,
  );
}

/** Upgrades a copy of the database, in the worker thread, and measures the time and space that it takes. */
export async function upgradeCopy({ path, folder, nowMs }: Trial & { readonly path: string }) {
  const startMs = performance.now();
  const copy = join(folder, "copy.db");
  const { bytes } = await copyUnchanged(path, copy, nowMs);
  const { leads } = await drillBackup({ file: copy, folder, nowMs });
  using client = new Database(copy, { readonly: true });
  const database = drizzle({ client });
  return {
    // The build that wrote the file last, and this one.
    from: lastBuild(database),
    to: build,
    // 0 if the file needs no upgrade.
    migrations: pendingMigrations(database).length,
    leads,
    seconds: Math.round((performance.now() - startMs) / 100) / 10,
    // The copy that is kept, and what a migration that rewrites the largest table puts into the log.
    neededBytes: 2 * bytes,
    // The copy and the drill took space that is free again when they are removed.
    freeBytes: freeBytesAt(copy) + 2 * bytes,
  };
}
