/** A backup: a consistent copy of the file, made while others read and write, with its manifest beside it. */

import { Database, SQLiteError } from "bun:sqlite";
import { existsSync, rmSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { writeMoment } from "../../contract/time.ts";
import { UserError } from "../../operator/user-error.ts";
import type { Backup } from "../../store/privacy.ts";
import {
  copyDigesting,
  draftOf,
  nameDraft,
  removeLeftovers,
  removeStaleDrafts,
  sync,
  writeDraft,
} from "../atomic-file.ts";
import { recordAct } from "../audit.ts";
import { codeOf, isDamaged, isFull, underlying } from "../failure.ts";
import { partsOf } from "../file.ts";
import { schemaVersion } from "../migrate.ts";
import { openDatabase } from "../open.ts";
import { contentOf, type Manifest, manifestPath } from "./manifest.ts";

/** Makes a backup; throws a UserError when it cannot, and leaves no part of one behind. */
export function makeBackup(path: string, file: string, nowMs: number): Backup {
  refuseTaken(path, file);
  if (!existsSync(path)) {
    throw new UserError(`There is no database at ${path}.`, "Set DATABASE_PATH to the file that the server uses.");
  }
  const database = openDatabase(path);
  const drafts = [draftOf(file), draftOf(manifestPath(file))] as const;
  try {
    for (const name of [file, manifestPath(file)]) removeStaleDrafts(name);
    removeLeftovers(dirname(resolve(file)));
    // Copying the pages one by one would begin again at every write of the server. This reads one state, to the end,
    // and copies what lives: nothing that was erased gets into a backup from a page that is free.
    database.run(sql`VACUUM INTO ${drafts[0]}`);
    const manifest = describe(drafts[0], file, nowMs);
    sync(drafts[0]);
    writeDraft(drafts[1], `${JSON.stringify(manifest, null, 2)}\n`);
    // The manifest first: where the backup is, it is whole.
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
    recordAct(database, { atMs: nowMs, act: "backup", account: null, detail: { sha256, leads } });
    return { file, sha256, bytes, leads };
  } catch (cause) {
    throw explainBackup(cause, file);
  } finally {
    for (const draft of drafts) for (const part of partsOf(draft)) rmSync(part, { force: true });
    database.$client.close();
  }
}

function refuseTaken(path: string, file: string): void {
  const folder = dirname(resolve(file));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UserError(`There is no folder ${folder}.`, "Make it, or name a file in another one.");
  }
  if (partsOf(resolve(path)).includes(resolve(file))) {
    throw new UserError(`${file} belongs to the database itself.`, "Name another file.");
  }
  const taken = [file, manifestPath(file)].find((name) => existsSync(name));
  if (taken === undefined) return;
  throw new UserError(`${taken} is there already, and a backup never writes over a file.`, "Name another file.");
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

function explainBackup(failure: unknown, file: string): unknown {
  const cause = underlying(failure);
  const code = codeOf(cause);
  if (isFull(cause)) {
    return new UserError(`The disk of ${file} is full.`, "Make room, or name a file on another disk.");
  }
  if (code === "EEXIST") {
    return new UserError(`${file} was made by another program just now.`, "Name another file.");
  }
  if (isDamaged(cause)) {
    return new UserError(
      "The database is damaged, and a backup of it would be as well.",
      "Restore an earlier backup: bun admin restore FILE.",
    );
  }
  if (cause instanceof SQLiteError || code !== "") {
    const said = cause instanceof Error ? cause.message : code;
    return new UserError(
      `${file} cannot be written (${said}).`,
      "Check the folder, and that this user may write in it.",
    );
  }
  return cause;
}
