/** The places where backups are kept: a folder, or a prefix of an S3 bucket. */
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { S3Client } from "bun";
import { writeMoment } from "../contract/time.ts";
import { draftOf, nameDraft, sync, writeDraft } from "../db/atomic-file.ts";
import { codeOf } from "../db/failure.ts";
import { UserError } from "../user-error.ts";
import { encryptedSuffix } from "./encryption.ts";
import { type Manifest, manifestPath, parseManifest, textOf } from "./manifest.ts";

/** How to reach an object store. */
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

/** A place for backups. Every method throws a UserError if the place cannot be used. */
export interface Destination {
  /** The complete backups, newest first. */
  list(): Promise<readonly StoredBackup[]>;
  /** Stores a finished file and its manifest under its own name, and returns its address. The file may be moved. */
  put(file: string, manifest: Manifest): Promise<string>;
  /** Copies a backup into a folder with its manifest, and returns the path. */
  get(address: string, folder: string): Promise<string>;
  remove(address: string): Promise<void>;
}

/** Whether a word names a place of an object store. */
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

/** Whether an address ends with the name of a backup, so that it means this one and not the newest. */
export function namesBackup(address: string): boolean {
  return namePattern.test(basename(address));
}

function describe(file: string, bytes: number, { made_at, counts }: Manifest): StoredBackup {
  return { file, made_at, bytes, leads: counts.leads, encrypted: file.endsWith(encryptedSuffix) };
}

function newestFirst(backups: readonly StoredBackup[]): StoredBackup[] {
  return backups.toSorted((one, other) => other.made_at.localeCompare(one.made_at));
}

/** Opens a folder that exists. */
export function openFolder(folder: string): Destination {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UserError(`There is no folder ${folder}.`, "Create it, or set BACKUP_TO to another one.");
  }
  return {
    async list() {
      const found = readdirSync(folder)
        .filter((name) => namePattern.test(name))
        .flatMap((name) => {
          const file = join(folder, name);
          const manifest = readableManifest(file);
          return manifest === null ? [] : [describe(file, statSync(file).size, manifest)];
        });
      return newestFirst(found);
    },
    async put(file, manifest) {
      const target = join(folder, basename(file));
      // Only what has a manifest is listed, so the file comes first.
      nameDraft(file, target);
      const draft = draftOf(manifestPath(target));
      writeDraft(draft, textOf(manifest));
      nameDraft(draft, manifestPath(target));
      sync(folder);
      return target;
    },
    get: async (address) => address,
    async remove(address) {
      for (const file of [manifestPath(address), address]) rmSync(file, { force: true });
    },
  };
}

function readableManifest(file: string): Manifest | null {
  try {
    return parseManifest(readFileSync(manifestPath(file), "utf8"));
  } catch {
    return null;
  }
}

/** Opens a prefix of a bucket, such as `s3://bucket/leadfile`. An object is listed only once its upload is complete. */
export function openBucket(address: string, access: S3Access): Destination {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(address) ?? [];
  const prefix = path === "" || path.endsWith("/") ? path : `${path}/`;
  const { endpoint, region, accessKeyId, secretAccessKey } = access;
  const options = { bucket, region, accessKeyId, secretAccessKey, ...(endpoint === null ? {} : { endpoint }) };
  const client = new S3Client(options);
  const keyOf = (backup: string) => backup.slice(`s3://${bucket}/`.length);
  const attempt = <Result>(what: string, work: () => Promise<Result>) =>
    work().catch((cause) => Promise.reject(inWords(cause, address, what)));

  async function listKeys(): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for (let startAfter: string | undefined; ; ) {
      const page = await client.list({ prefix, ...(startAfter === undefined ? {} : { startAfter }) });
      for (const { key, size } of page.contents ?? []) sizes.set(key, size ?? 0);
      startAfter = page.contents?.at(-1)?.key;
      if (page.isTruncated !== true || startAfter === undefined) return sizes;
    }
  }

  return {
    list: () =>
      attempt("read", async () => {
        const sizes = await listKeys();
        const names = [...sizes.keys()].filter(
          (key) => namePattern.test(key.slice(prefix.length)) && sizes.has(manifestPath(key)),
        );
        const found = await Promise.all(
          names.map(async (key) => {
            const manifest = parseManifest(await client.file(manifestPath(key)).text());
            return manifest === null ? [] : [describe(`s3://${bucket}/${key}`, sizes.get(key) ?? 0, manifest)];
          }),
        );
        return newestFirst(found.flat());
      }),
    put: (file, manifest) =>
      attempt("written", async () => {
        const key = `${prefix}${basename(file)}`;
        await client.write(key, Bun.file(file));
        // Only what has a manifest is listed, so the manifest comes last.
        await client.write(manifestPath(key), textOf(manifest));
        return `s3://${bucket}/${key}`;
      }),
    get: (backup, folder) =>
      attempt("read", async () => {
        const file = join(folder, basename(backup));
        await Bun.write(manifestPath(file), await client.file(manifestPath(keyOf(backup))).text());
        await Bun.write(file, new Response(client.file(keyOf(backup)).stream()));
        return file;
      }),
    remove: (backup) =>
      attempt("written", async () => {
        for (const key of [manifestPath(keyOf(backup)), keyOf(backup)]) await client.delete(key);
      }),
  };
}

const adviceByCode: Readonly<Record<string, string>> = {
  NoSuchBucket: "Create the bucket, or correct its name.",
  NoSuchKey: "List the backups in this place: backup list.",
  InvalidAccessKeyId: "Check AWS_ACCESS_KEY_ID.",
  XAdminUserNotFound: "Check AWS_ACCESS_KEY_ID.",
  SignatureDoesNotMatch: "Check AWS_SECRET_ACCESS_KEY and AWS_REGION.",
  AccessDenied: "Check the permissions of the access key: it needs to list, read, write, and delete objects.",
};

function inWords(cause: unknown, address: string, what: string): unknown {
  if (cause instanceof UserError || !(cause instanceof Error)) return cause;
  const code = codeOf(cause);
  const advice = adviceByCode[code] ?? "Check AWS_ENDPOINT_URL, the network, and the space in the bucket.";
  return new UserError(`${address} cannot be ${what} (${[code, cause.message].filter(Boolean).join(": ")}).`, advice);
}
