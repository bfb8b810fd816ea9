/** The places where backups are stored: folders, and places that an extension opens, such as an object store. */
import { copyFile, readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { formatTime } from "../contract/time.ts";
import { createDraftFolder, sync } from "../db/database-files.ts";
import { codeOf, isFull } from "../db/failure.ts";
import { UserError } from "../runtime/user-error.ts";
import { manifestPath, parseManifest, readManifest, writeManifest } from "./manifest.ts";
import { publish } from "./publish.ts";

/** The files of a place. */
export interface PlaceFiles {
  /** Returns the path or the address of a file, as `restore` takes it. */
  addressOf(name: string): string;
  /** Returns the size of each file by name. */
  sizes(): Promise<ReadonlyMap<string, number>>;
  /** Returns the text of a file: null if it is gone, and empty if it cannot be read. */
  read(name: string): Promise<string | null>;
  /** Stores a file. It appears complete or not at all. */
  put(name: string, file: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Returns the local path of a file. A remote file is copied into the folder first. */
  fetchFile(name: string, folder: string): Promise<string>;
  /** Returns the advice for an error code. */
  adviceFor(code: string): string;
}

/** The functions that an extension adds to backups: places other than folders, and encryption. */
export interface BackupStore {
  /** Opens the files at an address, such as s3://bucket/prefix. Throws a UserError if a setting is missing or wrong. */
  openFiles(address: string): PlaceFiles;
  encrypt(from: string, to: string, recipient: string): Promise<void>;
  /** Throws a UserError that names the backup if the identity file does not match, or the backup is damaged. */
  decrypt(from: string, to: string, decryption: Decryption): Promise<void>;
}

/** The backup that is decrypted, and the age identity for it. */
export interface Decryption {
  /** The name of the backup in messages. */
  readonly name: string;
  readonly identityFile: string | null;
}

/** The suffix of an encrypted backup's name. */
export const encryptedSuffix = ".age";

/** A complete backup in a place. */
export interface StoredBackup {
  /** The path or the address, as `restore` takes it. */
  readonly file: string;
  readonly made_at: string;
  readonly bytes: number;
  readonly leads: number;
  readonly encrypted: boolean;
  /** The database that was backed up; null if the manifest does not name it. */
  readonly instance: string | null;
}

/** The name of a backup made at a time, before it is encrypted. */
export function backupName(ms: number): string {
  return `leadfile-${formatTime(ms)
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(/[-:]/g, "")}.db`;
}

const timeOf = (name: string) => /\d{8}T\d{6}/.exec(name)?.[0] ?? "";
/** Returns whether a name has the form that `backupName` returns. */
export const isBackupName = (name: string): boolean => /^leadfile-\d{8}T\d{6}Z\.db(?:\.age)?$/.test(name);

/** A place that can be listed, written, and rotated. Each method throws a UserError that names the place if it fails. */
export type Place = ReturnType<typeof openPlace>;

const isAddress = (place: string) => place.startsWith("s3://");

/**
 * Opens an existing folder, or an address through the store of an extension. A backup without a manifest is incomplete and is
 * not listed. Throws a UserError if the place cannot be used.
 */
export function openPlace(place: string, store: BackupStore | null) {
  const files = isAddress(place) ? storeFor(store).openFiles(place) : openFolder(place);
  const naming = openNaming(place, files);
  return {
    /**
     * Returns the complete backups, newest first, the addresses of those with an unreadable manifest, and names without a
     * manifest.
     */
    listAll: () => naming("read", () => listBackups(files)),
    /** Returns the complete backups that Leadfile named, newest first. Those dated in the future come last. */
    list: (nowMs: number) => naming("read", async () => newestFirst((await listBackups(files)).backups, nowMs)),
    /** Moves a backup and its manifest into the place, and returns the address of the backup. */
    put: (file: string) =>
      naming("written", async () => {
        const name = basename(file);
        await files.put(name, file);
        await files.put(manifestPath(name), manifestPath(file));
        return files.addressOf(name);
      }),
    /** Removes a backup. The manifest is removed first: a backup that is deleted in part is not listed. */
    remove: (name: string) =>
      naming("written", async () => {
        for (const one of [manifestPath(name), name]) await files.remove(one);
        return files.addressOf(name);
      }),
    /**
     * Downloads a backup and its manifest. Returns the path: of the copy for an object store, of the original for a
     * folder.
     */
    fetchBackup: (address: string, folder: string) =>
      naming("read", async () => {
        const name = basename(address);
        await files.fetchFile(manifestPath(name), folder);
        return files.fetchFile(name, folder);
      }),
  };
}

/** Returns the store; throws a UserError if no extension has one. */
export function storeFor(store: BackupStore | null): BackupStore {
  if (store !== null) return store;
  throw new UserError(
    "This installation has no extension for object stores and encryption.",
    "Pass a folder or a file that is not encrypted.",
  );
}

/** Lists all backups, whatever their names: the complete ones, and the addresses of those with an unreadable manifest. */
async function listBackups(files: PlaceFiles) {
  const sizes = await files.sizes();
  const backups: StoredBackup[] = [];
  const unreadable: string[] = [];
  const incomplete: string[] = [];
  const read = async (name: string) => {
    if (!sizes.has(manifestPath(name))) return void incomplete.push(name);
    const text = await files.read(manifestPath(name));
    // A server may delete its oldest backups during the listing.
    if (text === null) return;
    const manifest = parseManifest(text);
    const file = files.addressOf(name);
    if (manifest === null) return void unreadable.push(file);
    const { made_at, counts, instance = null } = manifest;
    const encrypted = name.endsWith(encryptedSuffix);
    backups.push({ file, made_at, bytes: sizes.get(name) ?? 0, leads: counts.leads, encrypted, instance });
  };
  await Promise.all([...sizes.keys()].filter((name) => !name.endsWith(manifestPath(""))).map(read));
  return {
    backups: backups.toSorted((one, other) => other.made_at.localeCompare(one.made_at)),
    unreadable,
    incomplete,
  };
}

/** Returns the backups that Leadfile named, newest first. Those dated in the future come last, because a clock was ahead. */
export function newestFirst(backups: readonly StoredBackup[], nowMs: number): StoredBackup[] {
  return aheadLast(
    backups.filter(({ file }) => isBackupName(basename(file))),
    nowMs,
  );
}

/** Orders backups so that those dated in the future come last: a clock was ahead, so it is unknown which of them are new. */
function aheadLast(backups: readonly StoredBackup[], nowMs: number): StoredBackup[] {
  const isAhead = ({ made_at }: StoredBackup) => made_at > formatTime(nowMs);
  return [...backups.filter((one) => !isAhead(one)), ...backups.filter(isAhead)];
}

/** Returns a function that does work in a place. It throws a UserError that names the place if the work fails there. */
function openNaming(place: string, files: PlaceFiles) {
  return async <Result>(what: "read" | "written", work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (cause) {
      if (!(cause instanceof Error) || cause instanceof UserError) throw cause;
      // The full disk is that of this machine, to which the backup is copied.
      if (what === "read" && isFull(cause)) throw cause;
      const code = codeOf(cause);
      const said = [code, cause.message].filter(Boolean).join(": ");
      throw new UserError(`${place} cannot be ${what} (${said}).`, files.adviceFor(code));
    }
  };
}

/** Opens a folder. Nothing is read synchronously: an unresponsive file server must not delay signals and time limits. */
function openFolder(folder: string): PlaceFiles {
  const addressOf = (name: string) => join(folder, name);
  return {
    addressOf,
    async sizes() {
      if (!(await isFolder(folder)))
        throw new UserError(`There is no folder ${folder}.`, "Create it, or set BACKUP_TO to another one.");
      const names = await readdir(folder);
      const sizeOf = (name: string) =>
        stat(addressOf(name)).then(
          ({ size }) => size,
          () => 0,
        );
      return new Map(await Promise.all(names.map(async (name) => [name, await sizeOf(name)] as const)));
    },
    read: (name) => readFile(addressOf(name), "utf8").catch((cause) => (codeOf(cause) === "ENOENT" ? null : "")),
    async put(name, file) {
      try {
        publish(file, addressOf(name));
      } catch (cause) {
        if (codeOf(cause) !== "EXDEV") throw cause;
        // On another disk, it is copied into a folder of drafts first.
        using drafts = createDraftFolder(folder);
        const draft = join(drafts.path, name);
        await copyFile(file, draft);
        sync(draft);
        publish(draft, addressOf(name));
      }
      sync(folder);
    },
    remove: (name) => rm(addressOf(name), { force: true }),
    fetchFile: async (name) => addressOf(name),
    adviceFor: () => "Check the folder, its permissions, and the space on its disk.",
  };
}

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** The options for fetching a backup from a place. */
export interface FetchOptions {
  /** The folder for downloaded and decrypted files. */
  readonly folder: string;
  /** The file with the age identity. */
  readonly identity: string | null;
  readonly store: BackupStore | null;
  readonly nowMs: number;
}

/** A backup in a file on this machine, and the newer ones next to its original. */
export type FoundBackup = Awaited<ReturnType<typeof findBackup>>;

/**
 * Fetches and decrypts a backup by its path or address. If `named` is a place, fetches its newest backup. Also lists
 * the backups in the same place that may be newer, newest first; `fetch` fetches one of them.
 */
export async function findBackup(named: string, { folder, identity, store, nowMs }: FetchOptions) {
  const isRemote = isAddress(named);
  const isOne = isRemote ? isBackupName(basename(named)) : !(await isFolder(named));
  // A mistyped name must fail, not look empty.
  if (!isRemote && isOne) readManifest(named);
  const place = isOne ? dirname(isRemote ? named : resolve(named)) : named;
  const { listAll, fetchBackup } = openPlace(place, store);
  const { backups, unreadable, incomplete } = await listAll();
  const wanted = isOne ? named : aheadLast(backups, nowMs)[0]?.file;
  if (wanted === undefined) throw new UserError(`There are no backups in ${named}.`, "Check its name.");
  if (!isOne) refuseMixed(named, backups);
  const fetch = async (address: string, into: string) =>
    decrypted(await fetchBackup(address, into), into, { name: address, identity, store });
  const isWanted = ({ file }: Pick<StoredBackup, "file">) => basename(file) === basename(wanted);
  const made = backups.find(isWanted)?.made_at ?? "";
  return {
    file: await fetch(wanted, folder),
    newer: backups.filter((one) => !isWanted(one) && (one.made_at > made || made > formatTime(nowMs))),
    fetch,
    /** The backups in the same place whose manifest is damaged, and those named after a later time that have none. */
    unread: [
      ...unreadable.filter((file) => !isWanted({ file })).map((file) => ({ file, reason: "it has another manifest." })),
      ...incomplete
        .filter((name) => isBackupName(name) && made !== "" && timeOf(name) > timeOf(backupName(Date.parse(made))))
        .map((name) => ({ file: `${place.replace(/\/$/, "")}/${name}`, reason: "it has no manifest." })),
    ],
  };
}

/** Throws a UserError if a place has backups of several databases: the newest one may be that of an empty database. */
function refuseMixed(named: string, backups: readonly StoredBackup[]): void {
  const newest = new Map<string, StoredBackup>();
  for (const one of backups) if (one.instance !== null && !newest.has(one.instance)) newest.set(one.instance, one);
  if (newest.size < 2) return;
  const listed = [...newest.values()].map(({ file, leads }) => `${file} (${leads} leads)`).join(", ");
  throw new UserError(
    `${named} has backups of ${newest.size} databases. The newest of each: ${listed}.`,
    "Pass the full name of the backup to restore.",
  );
}

/** Returns the warning that a backup next to the restored one was not read. */
export function unreadText(address: string, reason: string): string {
  return `The backup ${address} cannot be read: ${reason} If it is newer, its erasures are not repeated.`;
}

interface Encrypted extends Pick<FetchOptions, "identity" | "store"> {
  /** The name of the backup in messages. */
  readonly name: string;
}

/** Decrypts a backup and its manifest into a folder. Returns the path of an unencrypted backup unchanged. */
async function decrypted(file: string, folder: string, { name, identity, store }: Encrypted): Promise<string> {
  if (!file.endsWith(encryptedSuffix)) return file;
  const plain = join(folder, basename(file, encryptedSuffix));
  await storeFor(store).decrypt(file, plain, { name, identityFile: identity });
  writeManifest(manifestPath(plain), readManifest(file));
  return plain;
}
