/** The backup store: buckets of an object store (S3), and encryption for an age recipient. */
import { join } from "node:path";
import { S3Client } from "bun";
import { manifestPath } from "../../src/backup/manifest.ts";
import { type BackupStore, isBackupName, type PlaceFiles } from "../../src/backup/places.ts";
import { readS3Access } from "../../src/config.ts";
import { codeOf } from "../../src/db/failure.ts";
import { adminCommand } from "../../src/runtime/program-name.ts";
import { decryptFile, encryptFile } from "./encryption.ts";

export const store: BackupStore = { openFiles: openBucket, encrypt: encryptFile, decrypt: decryptFile };

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

/** Opens the objects under a prefix of a bucket. An object is listed only when it is complete. */
function openBucket(address: string): PlaceFiles {
  const { endpoint, ...access } = readS3Access();
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(address) ?? [];
  const prefix = path === "" || path.endsWith("/") ? path : `${path}/`;
  const client = new S3Client({ bucket, ...access, ...(endpoint === null ? {} : { endpoint }) });
  return {
    addressOf: (name) => `s3://${bucket}/${prefix}${name}`,
    async sizes() {
      const sizes: [name: string, bytes: number][] = [];
      for (let startAfter: string | undefined; ; ) {
        const page = await client.list({ prefix, ...(startAfter === undefined ? {} : { startAfter }) });
        const { contents = [], isTruncated } = page;
        sizes.push(...contents.map(({ key, size = 0 }) => [key.slice(prefix.length), size] as [string, number]));
        startAfter = contents.at(-1)?.key;
        // A bucket may have other objects.
        if (isTruncated !== true || startAfter === undefined)
          return new Map(sizes.filter(([name]) => isBackupName(name.replace(manifestPath(""), ""))));
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
    async fetchFile(name, folder) {
      const file = join(folder, name);
      await Bun.write(file, new Response(client.file(prefix + name).stream()));
      return file;
    },
    adviceFor: (code) => adviceByCode[code] ?? "Check AWS_ENDPOINT_URL, the network, and the space in the bucket.",
  };
}
