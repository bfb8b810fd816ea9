/** One file of the spool: `….part` while it is written, `….ndjson` once it is complete. */
import { type FileHandle, mkdir, open, rename, rm, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface SpoolFile {
  /** Resolves when the lines are on the disk. */
  write(lines: readonly string[]): Promise<void>;
  /** Gives it the name under which the import takes it. */
  complete(): Promise<void>;
  /** Takes back what was written since the last sync, and completes what was written before. */
  giveUp(): Promise<void>;
}

/** Makes a file of the spool. Its name is on the disk before anything is in it. */
export async function openSpoolFile(folder: string, name: string): Promise<SpoolFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.part`);
  const handle = await open(path, "ax", 0o600);
  await syncFolder(folder);
  await syncFolder(dirname(folder));
  let syncedBytes = 0;
  return {
    async write(lines) {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      await handle.appendFile(bytes);
      await handle.datasync();
      if ((await handle.stat()).nlink === 0) throw new Error("the file in the spool was removed");
      syncedBytes += bytes.length;
    },
    async complete() {
      await handle.close();
      await rename(path, join(folder, `${name}.ndjson`));
    },
    async giveUp() {
      await ignoreFailure(handle.close());
      if (syncedBytes === 0) return await ignoreFailure(rm(path));
      await ignoreFailure(truncate(path, syncedBytes));
      await ignoreFailure(rename(path, join(folder, `${name}.ndjson`)));
    },
  };
}

/** A failure is ignored: the next start does what is left. */
async function ignoreFailure(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

async function syncFolder(folder: string): Promise<void> {
  const handle: FileHandle = await open(folder, "r");
  await handle.sync();
  await handle.close();
}
