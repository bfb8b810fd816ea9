/** Tries the upgrade of the database on a copy, with everything that a drill checks. */
import { Database } from "bun:sqlite";
import { existsSync, rmSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { removeLeftovers, trialFolderIn } from "../db/leftovers.ts";
import { lastBuild, migrationsBehind } from "../db/schema-version.ts";
import { build } from "../program-name.ts";
import { UserError } from "../user-error.ts";
import { copyUnchanged } from "./backup.ts";
import { drillBackup } from "./drill.ts";
import { inThread } from "./thread.ts";

/** What an upgrade will do. */
export interface Trial {
  /** The build that wrote the file last, and this one. */
  readonly from: string;
  readonly to: string;
  /** How many migrations the file lacks; 0 if it needs no upgrade. */
  readonly migrations: number;
  readonly leads: number;
  readonly seconds: number;
  /** The disk space that the upgrade needs, and what is free. */
  readonly neededBytes: number;
  readonly freeBytes: number;
}

/** Upgrades a copy, compares every lead, and changes nothing. Throws a UserError if the copy differs. */
export async function tryUpgrade(path: string, nowMs: number, stop: AbortSignal): Promise<Trial> {
  if (!existsSync(path)) {
    throw new UserError(`There is no database at ${path}.`, "Set DATABASE_PATH to the file that the server uses.");
  }
  process.umask(0o077);
  removeLeftovers(dirname(path));
  const folder = trialFolderIn(dirname(path));
  try {
    return await inThread<Trial>("upgradeCopy", { path, folder, nowMs }, stop);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The work of the thread. */
export function upgradeCopy({ path, folder, nowMs }: { path: string; folder: string; nowMs: number }): Trial {
  const startMs = performance.now();
  const copy = join(folder, "copy.db");
  const { bytes } = copyUnchanged(path, copy, nowMs);
  const { leads } = drillBackup({ file: copy, folder, nowMs });
  using client = new Database(copy, { readonly: true });
  const database = drizzle({ client });
  const behind = migrationsBehind(database);
  const { bavail, bsize } = statfsSync(folder);
  return {
    from: lastBuild(database),
    to: build,
    migrations: typeof behind === "number" ? behind : 0,
    leads,
    seconds: Math.round((performance.now() - startMs) / 100) / 10,
    // The copy that is kept, and what a migration that rewrites the largest table puts into the log.
    neededBytes: 2 * bytes,
    // The copy and the drill took space that is free again in a moment.
    freeBytes: bavail * bsize + 2 * bytes,
  };
}
