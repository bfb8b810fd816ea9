/** The places where backups are kept: a folder, or a prefix of an S3 bucket. */
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { S3Client } from "bun";
import { writeMoment } from "../contract/time.ts";
import { codeOf } from "../db/failure.ts";
import { publish, sizeOf, sync } from "../db/files.ts";
import { UserError } from "../user-error.ts";
import { decryptFile, encryptedSuffix } from "./encryption.ts";
import { manifestPath, parseManifest, readManifest, writeManifest } from "./manifest.ts";

/** The address of an object store, and the key to it. */
export interface S3Access {
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
}

/** A place for backups. A backup without its manifest is incomplete and not listed. Throws a UserError if it cannot be used. */
export interface Place {
  /** The complete backups with a name of ours, newest first. */
  list(): Promise<readonly StoredBackup[]>;
  /** Moves a backup and its manifest into the place, and returns the address of the backup. */
  put(file: string): Promise<string>;
  remove(address: string): Promise<void>;
}

/** Files that have names, in a folder or a bucket. A file appears complete or not at all. */
interface Storage {
  addressOf(name: string): string;
  sizes(): Promise<ReadonlyMap<string, number>>;
  read(name: string): Promise<string>;
  put(name: string, file: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Gives the path of a file: its own, or that of a copy in a folder. */
  bring(name: string, folder: string): Promise<string>;
}

/** Tells whether a word names a place in an object store. */
export function isS3(place: string): boolean {
  return place.startsWith("s3://");
}

/** The name of a backup made at a time, before it is encrypted. */
export function backupName(ms: number): string {
  return `leadfile-${writeMoment(ms)
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(/[-:]/g, "")}.db`;
}

const namePattern = /^leadfile-\d{8}T\d{6}Z\.db(?:\.age)?$/;

/** Opens a folder that exists, or `s3://bucket/prefix`. `access` is asked for only if the place needs it. */
export function openPlace(place: string, access: () => S3Access): Place {
  const storage = openStorage(place, access);
  return {
    list: () => naming(place, "read", async () => (await listIn(storage, (name) => namePattern.test(name))).backups),
    put: (file) =>
      naming(place, "written", async () => {
        const name = basename(file);
        await storage.put(name, file);
        await storage.put(manifestPath(name), manifestPath(file));
        return storage.addressOf(name);
      }),
    remove: (address) =>
      naming(place, "written", async () => {
        const name = basename(address);
        for (const one of [manifestPath(name), name]) await storage.remove(one);
      }),
  };
}

function openStorage(place: string, access: () => S3Access): Storage {
  if (isS3(place)) return openBucket(place, access());
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory()) return openFolder(place);
  throw new UserError(`There is no folder ${place}.`, "Create it, or set BACKUP_TO to another one.");
}

/** Lists the backups whose names fit, newest first, and the addresses of those whose manifest is none. */
async function listIn(storage: Storage, fits: (name: string) => boolean) {
  const sizes = await storage.sizes();
  const names = [...sizes.keys()].filter((name) => fits(name) && sizes.has(manifestPath(name)));
  const found = await Promise.all(
    names.map(async (name) => ({ name, manifest: parseManifest(await storage.read(manifestPath(name))) })),
  );
  const backups = found.flatMap(({ name, manifest }): StoredBackup[] => {
    if (manifest === null) return [];
    const { made_at, counts } = manifest;
    const encrypted = name.endsWith(encryptedSuffix);
    return [{ file: storage.addressOf(name), made_at, bytes: sizes.get(name) ?? 0, leads: counts.leads, encrypted }];
  });
  return {
    backups: backups.toSorted((one, other) => other.made_at.localeCompare(one.made_at)),
    unreadable: found.flatMap(({ name, manifest }) => (manifest === null ? storage.addressOf(name) : [])),
  };
}

function openFolder(folder: string): Storage {
  const addressOf = (name: string) => join(folder, name);
  return {
    addressOf,
    sizes: async () => new Map(readdirSync(folder).map((name) => [name, sizeOf(addressOf(name))])),
    async read(name) {
      try {
        return readFileSync(addressOf(name), "utf8");
      } catch {
        return "";
      }
    },
    async put(name, file) {
      publish(file, addressOf(name));
      sync(folder);
    },
    remove: async (name) => rmSync(addressOf(name), { force: true }),
    bring: async (name) => addressOf(name),
  };
}

function openBucket(address: string, { endpoint, ...access }: S3Access): Storage {
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
    read: (name) => client.file(prefix + name).text(),
    put: async (name, file) => void (await client.write(prefix + name, Bun.file(file))),
    remove: (name) => client.delete(prefix + name),
    async bring(name, folder) {
      const file = join(folder, name);
      await Bun.write(file, new Response(client.file(prefix + name).stream()));
      return file;
    },
  };
}

export interface FetchedBackup {
  readonly file: string;
  /** Newer backups from the same place, newest first: their erasures hold. */
  readonly newer: readonly NewerBackup[];
  readonly warnings: readonly string[];
}

export interface NewerBackup {
  /** The backup as the user knows it. */
  readonly name: string;
  readonly file: string;
}

export interface FetchOptions {
  /** The folder for what is downloaded and decrypted. */
  readonly folder: string;
  /** The file with the age identity. */
  readonly identity: string | null;
  readonly access: () => S3Access;
}

/** The newest one knows all that the others know. A second one is fetched in case that it is damaged. */
const maxNewer = 2;

/** Brings the backup that a file name or an address names to this machine, decrypted, and newer ones from its place. */
export async function fetchBackup(named: string, { folder, identity, access }: FetchOptions): Promise<FetchedBackup> {
  const isRemote = isS3(named);
  // A name that was mistyped is no empty place.
  if (!isRemote) readManifest(named);
  const isOne = !isRemote || namePattern.test(basename(named));
  const place = isOne ? dirname(isRemote ? named : resolve(named)) : named;
  const storage = openStorage(place, access);
  // In a folder any backup counts, whatever its name is.
  const fits = (name: string) => !isRemote || namePattern.test(name);
  const { backups, unreadable } = await naming(place, "read", () => listIn(storage, fits));
  const wanted = isOne ? named : backups[0]?.file;
  if (wanted === undefined)
    throw new UserError(`There are no backups in ${named}.`, "Check the bucket and the prefix.");
  const bring = async (address: string) => {
    const name = basename(address);
    const file = await naming(place, "read", async () => {
      await storage.bring(manifestPath(name), folder);
      return storage.bring(name, folder);
    });
    return decrypted(address, file, folder, identity);
  };
  const file = await bring(wanted);
  const made = backups.find((backup) => basename(backup.file) === basename(wanted))?.made_at;
  const warnings = unreadable.map((address) => unreadText(address, "it has another manifest."));
  const newer: NewerBackup[] = [];
  const newest = backups.filter(({ made_at }) => made !== undefined && made_at > made).slice(0, maxNewer);
  for (const { file: address } of newest) {
    try {
      newer.push({ name: address, file: await bring(address) });
    } catch (cause) {
      if (!(cause instanceof UserError)) throw cause;
      warnings.push(unreadText(address, cause.message));
    }
  }
  return { file, newer, warnings };
}

/** Says that a backup next to the restored one was not read. */
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

const adviceByCode: Readonly<Record<string, string>> = {
  NoSuchBucket: "Create the bucket, or correct its name.",
  NoSuchKey: "List the backups in this place: backup list.",
  InvalidAccessKeyId: "Check AWS_ACCESS_KEY_ID.",
  XAdminUserNotFound: "Check AWS_ACCESS_KEY_ID.",
  SignatureDoesNotMatch: "Check AWS_SECRET_ACCESS_KEY and AWS_REGION.",
  AccessDenied: "Check the permissions of the access key: it needs to list, read, write, and delete objects.",
};

/** Does work in a place. Throws a UserError that names the place if it fails there. */
async function naming<Result>(place: string, what: "read" | "written", work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof UserError || !(cause instanceof Error)) throw cause;
    const code = codeOf(cause);
    const other = isS3(place)
      ? "Check AWS_ENDPOINT_URL, the network, and the space in the bucket."
      : "Check the folder, its permissions, and the space on its disk.";
    const said = [code, cause.message].filter(Boolean).join(": ");
    throw new UserError(`${place} cannot be ${what} (${said}).`, adviceByCode[code] ?? other);
  }
}
