/** The places where backups are kept: a folder, or a prefix of an S3 bucket. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { S3Client } from "bun";
import { formatTime } from "../contract/time.ts";
import { createDraftFolder, isFolder, sizeOf, sync } from "../db/database-files.ts";
import { codeOf, isFull } from "../db/failure.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";
import { decryptFile, encryptedSuffix } from "./encryption.ts";
import { manifestPath, parseManifest, readManifest, writeManifest } from "./manifest.ts";
import { publish } from "./publish.ts";

/** The address of an object store, and the key to it. A folder needs none. */
interface S3Access {
  readonly endpoint: string | null;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

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
const isOurs = (name: string) => /^leadfile-\d{8}T\d{6}Z\.db(?:\.age)?$/.test(name);

const adviceByCode: Readonly<Record<string, string>> = {
  NoSuchBucket: "Create the bucket, or correct its name.",
  InvalidBucketName: "Correct the name of the bucket.",
  ERR_S3_INVALID_PATH: "Name a bucket: s3://bucket/prefix.",
  NoSuchKey: `List the backups in this place: ${adminCommand} backup list PLACE`,
  InvalidAccessKeyId: "Check AWS_ACCESS_KEY_ID.",
  XAdminUserNotFound: "Check AWS_ACCESS_KEY_ID.",
  SignatureDoesNotMatch: "Check AWS_SECRET_ACCESS_KEY and AWS_REGION.",
  AccessDenied: "Check the permissions of the access key: it needs to list, read, write, and delete objects.",
};

/** A place that can be listed, written, and rotated. Each method throws a UserError that names the place if it fails. */
export type Place = ReturnType<typeof openPlace>;

/**
 * Opens a folder that exists, or `s3://bucket/prefix` with the access to it. A backup without its manifest is incomplete and
 * not listed. Throws a UserError if the place cannot be used.
 */
export function openPlace(place: string, access: S3Access | null) {
  const storage = access === null ? openFolder(place) : openBucket(place, access);
  const naming = openNaming(place, access === null);

  return {
    /** The folder; null for an object store. */
    folder: access === null ? place : null,
    /** The complete backups, newest first: in a folder those with other names as well. */
    listAll: () => naming("read", () => listMatching(storage, (name) => access === null || isOurs(name))),
    /** The complete backups with a name of ours, newest first, but those dated in the future last. */
    list: (nowMs: number) =>
      naming("read", async () => aheadLast((await listMatching(storage, isOurs)).backups, nowMs)),
    /** Moves a backup and its manifest into the place, and returns the address of the backup. */
    put: (file: string) =>
      naming("written", async () => {
        const name = basename(file);
        await storage.put(name, file);
        await storage.put(manifestPath(name), manifestPath(file));
        return storage.addressOf(name);
      }),
    /** Removes all but the newest `keep` backups, and incomplete ones that are older than all of those. Returns their addresses. */
    rotate: (keep: number, nowMs: number) =>
      naming("written", async () => {
        const { backups, incomplete } = await listMatching(storage, isOurs);
        const names = aheadLast(backups, nowMs).map(({ file }) => basename(file));
        const [oldest] = names.slice(0, keep).toSorted();
        // If there are fewer backups than that, incomplete ones are kept: someone may have copied them without
        // manifests.
        const isOver = (name: string) => names.length >= keep && oldest !== undefined && name < oldest;
        const gone = [...names.slice(keep), ...incomplete.filter(isOver)];
        // The manifest goes first: a backup that is deleted in part is not listed.
        for (const name of gone) for (const one of [manifestPath(name), name]) await storage.remove(one);
        return gone.map(storage.addressOf);
      }),
    /**
     * Downloads a backup and its manifest. Returns the path: of the copy for an object store, of the original for a
     * folder.
     */
    bring: (address: string, folder: string) =>
      naming("read", async () => {
        const name = basename(address);
        await storage.bring(manifestPath(name), folder);
        return storage.bring(name, folder);
      }),
  };
}

/** Lists the backups of a place in the worker thread, newest first, but those dated in the future last. */
export function listPlace({ place, access, nowMs }: { place: string; access: S3Access | null; nowMs: number }) {
  return openPlace(place, access).list(nowMs);
}

/**
 * Lists the backups whose names match: the complete ones, newest first; the addresses of those with an unreadable
 * manifest; and the names of those without a manifest.
 */
async function listMatching(storage: ReturnType<typeof openFolder>, fits: (name: string) => boolean) {
  const sizes = await storage.sizes();
  const backups: StoredBackup[] = [];
  const unreadable: string[] = [];
  const incomplete: string[] = [];
  const read = async (name: string) => {
    if (!sizes.has(manifestPath(name))) return void incomplete.push(name);
    const text = await storage.read(manifestPath(name));
    // A server deletes its oldest backups while others are listed.
    if (text === null) return;
    const manifest = parseManifest(text);
    const file = storage.addressOf(name);
    if (manifest === null) return void unreadable.push(file);
    const { made_at, counts, instance = null } = manifest;
    const encrypted = name.endsWith(encryptedSuffix);
    backups.push({ file, made_at, bytes: sizes.get(name) ?? 0, leads: counts.leads, encrypted, instance });
  };
  await Promise.all([...sizes.keys()].filter(fits).map(read));
  return {
    backups: backups.toSorted((one, other) => other.made_at.localeCompare(one.made_at)),
    unreadable,
    incomplete,
  };
}

/** Orders backups so that those dated in the future come last: a clock was ahead, so it is unknown which of them are new. */
function aheadLast(backups: readonly StoredBackup[], nowMs: number): StoredBackup[] {
  const isAhead = ({ made_at }: StoredBackup) => made_at > formatTime(nowMs);
  return [...backups.filter((one) => !isAhead(one)), ...backups.filter(isAhead)];
}

/** Returns a function that does work in a place. It throws a UserError that names the place if the work fails there. */
function openNaming(place: string, isFolder: boolean) {
  const other = isFolder
    ? "Check the folder, its permissions, and the space on its disk."
    : "Check AWS_ENDPOINT_URL, the network, and the space in the bucket.";
  return async <Result>(what: "read" | "written", work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      // The disk of this machine is full, to which it is brought.
      if (what === "read" && isFull(cause)) throw cause;
      const code = codeOf(cause);
      const said = [code, cause.message].filter(Boolean).join(": ");
      throw new UserError(`${place} cannot be ${what} (${said}).`, adviceByCode[code] ?? other);
    }
  };
}

function openFolder(folder: string) {
  if (!isFolder(folder)) {
    throw new UserError(`There is no folder ${folder}.`, "Create it, or set BACKUP_TO to another one.");
  }
  const addressOf = (name: string) => join(folder, name);
  return {
    addressOf,
    sizes: async () => new Map(readdirSync(folder).map((name) => [name, sizeOf(addressOf(name))])),
    /** Returns null if the file is gone, and an empty text if it cannot be read. */
    async read(name: string) {
      try {
        return readFileSync(addressOf(name), "utf8");
      } catch (cause) {
        return codeOf(cause) === "ENOENT" ? null : "";
      }
    },
    /** The file appears complete or not at all. */
    async put(name: string, file: string) {
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
    remove: async (name: string) => rmSync(addressOf(name), { force: true }),
    bring: async (name: string, _folder: string) => addressOf(name),
  };
}

function openBucket(address: string, { endpoint, ...access }: S3Access): ReturnType<typeof openFolder> {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(address) ?? [];
  const prefix = path === "" || path.endsWith("/") ? path : `${path}/`;
  const client = new S3Client({ bucket, ...access, ...(endpoint === null ? {} : { endpoint }) });
  return {
    addressOf: (name) => `s3://${bucket}/${prefix}${name}`,
    async sizes() {
      const sizes = new Map<string, number>();
      for (let startAfter: string | undefined; ; ) {
        const page = await client.list({ prefix, ...(startAfter === undefined ? {} : { startAfter }) });
        for (const { key, size } of page.contents ?? []) sizes.set(key.slice(prefix.length), size ?? 0);
        startAfter = page.contents?.at(-1)?.key;
        if (page.isTruncated !== true || startAfter === undefined) return sizes;
      }
    },
    async read(name) {
      try {
        return await client.file(prefix + name).text();
      } catch (cause) {
        if (codeOf(cause) === "NoSuchKey") return null;
        throw cause;
      }
    },
    put: async (name, file) => void (await client.write(prefix + name, Bun.file(file))),
    remove: (name) => client.delete(prefix + name),
    async bring(name, folder) {
      const file = join(folder, name);
      await Bun.write(file, new Response(client.file(prefix + name).stream()));
      return file;
    },
  };
}

/** The options for fetching a backup from a place. */
export interface FetchOptions {
  /** The folder for what is downloaded and decrypted. */
  readonly folder: string;
  /** The file with the age identity. */
  readonly identity: string | null;
  /** Null if the backup is in a folder. */
  readonly access: S3Access | null;
  readonly nowMs: number;
}

/** A backup in a file on this machine, and the newer ones next to its original. */
export type FoundBackup = Awaited<ReturnType<typeof findBackup>>;

/**
 * Fetches and decrypts a backup by its path or address. If `named` is a place, fetches its newest backup. Also lists
 * the backups in the same place that may be newer, newest first; `fetch` fetches one of them.
 */
export async function findBackup(named: string, { folder, identity, access, nowMs }: FetchOptions) {
  const isRemote = access !== null;
  const isOne = isRemote ? isOurs(basename(named)) : !isFolder(named);
  // A mistyped name must fail, not look empty.
  if (!isRemote && isOne) readManifest(named);
  const place = isOne ? dirname(isRemote ? named : resolve(named)) : named;
  const { listAll, bring } = openPlace(place, access);
  const { backups, unreadable, incomplete } = await listAll();
  const wanted = isOne ? named : aheadLast(backups, nowMs)[0]?.file;
  if (wanted === undefined) throw new UserError(`There are no backups in ${named}.`, "Check its name.");
  if (!isOne) refuseMixed(named, backups);
  const fetch = async (address: string, into: string) => decrypted(address, await bring(address, into), into, identity);
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
        .filter((name) => isOurs(name) && made !== "" && timeOf(name) > timeOf(backupName(Date.parse(made))))
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

/** Decrypts a backup into a folder, with its manifest; returns the path of one that is not encrypted as it is. */
async function decrypted(name: string, file: string, folder: string, identity: string | null): Promise<string> {
  if (!file.endsWith(encryptedSuffix)) return file;
  const plain = join(folder, basename(file, encryptedSuffix));
  await decryptFile(file, plain, { name, identityFile: identity });
  writeManifest(manifestPath(plain), readManifest(file));
  return plain;
}
