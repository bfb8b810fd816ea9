/** Daily backups: each is tested, encrypted if there is a recipient, stored, and the oldest are deleted. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { dayMs } from "../contract/calendar.ts";
import { removeLeftovers, trialFolderIn } from "../db/leftovers.ts";
import { UserError } from "../user-error.ts";
import type { Backup } from "./backup.ts";
import { backupName, type Destination, isS3, openBucket, openFolder, type S3Access } from "./destinations.ts";
import { drill } from "./drill.ts";
import { encryptedSuffix, encryptFile } from "./encryption.ts";
import { readManifest } from "./manifest.ts";
import type { Backups } from "./restore.ts";
import type { Listen } from "./thread.ts";

/** Opens a place for backups: a folder, or `s3://bucket/prefix`. `access` is asked for only if the place needs it. */
export function openDestination(place: string, access: () => S3Access): Destination {
  return isS3(place) ? openBucket(place, access()) : openFolder(place);
}

export interface StoreRequest {
  readonly backups: Backups;
  readonly databasePath: string;
  /** A folder, or `s3://bucket/prefix`. */
  readonly place: string;
  readonly destination: Destination;
  /** The age recipient; null leaves the backup unencrypted. */
  readonly recipient: string | null;
  readonly nowMs: number;
  readonly listen: Listen;
}

/** Makes a backup, tests it, and stores it under a name with its time. Nothing else is left in case of a failure. */
export async function storeBackup(request: StoreRequest): Promise<Backup> {
  const { backups, databasePath, place, destination, recipient, nowMs, listen } = request;
  if (isS3(place) && recipient === null) {
    throw new UserError(
      "A backup in an object store must be encrypted.",
      "Set BACKUP_RECIPIENT to an age recipient (age1…); age-keygen makes one.",
    );
  }
  const parent = isS3(place) ? dirname(databasePath) : place;
  removeLeftovers(parent);
  const folder = trialFolderIn(parent);
  try {
    const file = join(folder, backupName(nowMs));
    await backups.make(file, nowMs, listen);
    const { leads } = await drill(file, nowMs, listen);
    const manifest = readManifest(file);
    const stored = recipient === null ? file : `${file}${encryptedSuffix}`;
    if (recipient !== null) await encryptFile(file, stored, recipient);
    const sha256 = recipient === null ? manifest.sha256 : await digestOf(stored);
    const bytes = statSync(stored).size;
    return { file: await destination.put(stored, manifest), sha256, bytes, leads };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function digestOf(file: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const chunk of Bun.file(file).stream()) hash.update(chunk);
  return hash.digest("hex");
}

/** Deletes all but the newest backups of a place, and copies from before an upgrade that are older than so many days. */
export async function rotate(
  destination: Destination,
  keep: number,
  databasePath: string,
  nowMs: number,
): Promise<string[]> {
  const old = (await destination.list()).slice(keep);
  for (const { file } of old) await destination.remove(file);
  const copy = new RegExp(`^${RegExp.escape(basename(databasePath))}\\.before-\\S+$`);
  const folder = dirname(databasePath);
  const copies = readdirSync(folder)
    .filter((name) => copy.test(name))
    .map((name) => join(folder, name))
    .filter((path) => nowMs - statSync(path).mtimeMs > keep * dayMs);
  for (const path of copies) rmSync(path);
  return [...old.map(({ file }) => file), ...copies];
}

/** The next time of day, in local time, after a time. */
export function nextAt(afterMs: number, { hour, minute }: { readonly hour: number; readonly minute: number }): number {
  const after = new Date(afterMs);
  const at = (days: number) =>
    new Date(after.getFullYear(), after.getMonth(), after.getDate() + days, hour, minute).getTime();
  return at(0) > afterMs ? at(0) : at(1);
}

const dueAfterMs = 25 * 3_600_000;
const retryMs = 15 * 60_000;
/** A clock that is set is noticed within this time. */
const lookMs = 60_000;

export interface Schedule {
  readonly at: { readonly hour: number; readonly minute: number };
  readonly now: () => number;
  /** Waits; true if it is time to end. */
  readonly pause: (ms: number) => Promise<boolean>;
  /** When the newest backup was made; null if there is none. */
  readonly lastMs: () => Promise<number | null>;
  readonly run: () => Promise<void>;
  readonly onFailure: (cause: unknown) => void;
}

/** Runs a backup daily, and at once if the last one is older than 25 hours. Repeats one that failed. Ends with `pause`. */
export async function keepDaily({ at, now, pause, lastMs, run, onFailure }: Schedule): Promise<void> {
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
      return nextAt(now(), at);
    } catch (cause) {
      onFailure(cause);
      return now() + retryMs;
    }
  };
  let dueMs = await attempt(async () => {
    const last = await lastMs();
    if (last === null || now() - last > dueAfterMs) await run();
  });
  for (;;) {
    if (await pause(Math.min(lookMs, Math.max(0, dueMs - now())))) return;
    // A clock that was set back must not postpone the next one by more than a day.
    dueMs = Math.min(dueMs, now() + dayMs + 3_600_000);
    if (now() >= dueMs) dueMs = await attempt(run);
  }
}
