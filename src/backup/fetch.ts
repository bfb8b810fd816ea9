/** Finds the backup that a restore names, and newer ones in the same place, and brings them to this machine, decrypted. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { trialFolderIn } from "../db/leftovers.ts";
import { UserError } from "../user-error.ts";
import { isS3, namesBackup, openBucket, type S3Access } from "./destinations.ts";
import { decryptFile, encryptedSuffix } from "./encryption.ts";
import { type Manifest, manifestPath, readManifest, writeManifest } from "./manifest.ts";

export interface FetchedBackup extends Disposable {
  readonly file: string;
  /** Newer backups from the same place, newest first: their erasures hold. */
  readonly newer: readonly string[];
  /** Newer backups that could not be read, each with the reason. */
  readonly warnings: readonly string[];
}

export interface FetchOptions {
  /** The folder for what is downloaded and decrypted. */
  readonly folder: string;
  /** The file with the age identity. */
  readonly identity: string | null;
  readonly access: () => S3Access;
}

/** Fetches the backup that a file name or an address names. Dispose of it once it is restored. */
export async function fetchBackup(named: string, { folder, identity, access }: FetchOptions): Promise<FetchedBackup> {
  const place = temporaryFolder(folder);
  try {
    const { wanted, newer, bring } = isS3(named) ? await findInBucket(named, access()) : findInFolder(named);
    const open = async (address: string) => decrypted(address, await bring(address, place.path), place.path, identity);
    const file = await open(wanted);
    const warnings: string[] = [];
    const opened: string[] = [];
    for (const address of newer.slice(0, maxNewer)) {
      try {
        opened.push(await open(address));
      } catch (cause) {
        if (!(cause instanceof UserError)) throw cause;
        warnings.push(`The newer backup ${address} cannot be read: ${cause.message} Its erasures are not repeated.`);
      }
    }
    return { file, newer: opened, warnings, [Symbol.dispose]: place.remove };
  } catch (cause) {
    place.remove();
    throw cause;
  }
}

/** A folder that is created when its path is first asked for. */
function temporaryFolder(parent: string): { readonly path: () => string; readonly remove: () => void } {
  let path: string | null = null;
  return {
    path() {
      mkdirSync(parent, { recursive: true });
      return (path ??= trialFolderIn(parent));
    },
    remove() {
      if (path !== null) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** The newest one knows all that the others know. A second one is read in case that it is damaged. */
const maxNewer = 2;

interface Found {
  readonly wanted: string;
  readonly newer: readonly string[];
  /** Copies a backup and its manifest into a folder, and returns the path; one in the file system stays where it is. */
  readonly bring: (address: string, folder: () => string) => Promise<string>;
}

async function findInBucket(named: string, access: S3Access): Promise<Found> {
  const prefix = namesBackup(named) ? dirname(named) : named;
  const bucket = openBucket(prefix, access);
  const backups = (await bucket.list()).map(({ file }) => file);
  const wanted = namesBackup(named) ? named : backups[0];
  if (wanted === undefined)
    throw new UserError(`There are no backups in ${named}.`, "Check the bucket and the prefix.");
  const at = backups.indexOf(wanted);
  return {
    wanted,
    newer: at === -1 ? [] : backups.slice(0, at),
    bring: (backup, folder) => bucket.get(backup, folder()),
  };
}

/** Any backup in the folder counts, whatever its name is. */
function findInFolder(named: string): Found {
  const made = readManifest(named).made_at;
  const folder = dirname(resolve(named));
  const newer = readdirSync(folder)
    .filter((name) => name.endsWith(manifestPath("")))
    .map((name) => join(folder, name.slice(0, -manifestPath("").length)))
    .flatMap((file) => {
      const manifest = manifestOf(file);
      return manifest !== null && manifest.made_at > made ? [{ file, made: manifest.made_at }] : [];
    })
    .toSorted((one, other) => other.made.localeCompare(one.made))
    .map(({ file }) => file);
  return { wanted: named, newer, bring: async (file) => file };
}

function manifestOf(file: string): Manifest | null {
  try {
    return existsSync(file) ? readManifest(file) : null;
  } catch {
    return null;
  }
}

/** Decrypts a backup into a folder, with its manifest; returns the path of one that is not encrypted as it is. */
async function decrypted(name: string, file: string, folder: () => string, identity: string | null): Promise<string> {
  if (!file.endsWith(encryptedSuffix)) return file;
  const plain = join(folder(), basename(file, encryptedSuffix));
  await decryptFile(file, plain, { name, identityFile: identity });
  writeManifest(plain, readManifest(file));
  return plain;
}
