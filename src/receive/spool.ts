/**
 * The spool: deliveries lie here, on the disk, from before their answer until their import. Each source has a folder. A
 * file in it is `….part` while it is written, and `….ndjson` once it is complete.
 */
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface Spool {
  /** Resolves when the lines are on the disk. When it throws, none of them is kept. */
  append(sourceId: string, lines: readonly string[]): Promise<void>;
  /** Completes the files, so that the import takes them. */
  complete(): Promise<void>;
  /** The bytes of all files, at most a second old. */
  size(): Promise<number>;
  close(): Promise<void>;
}

const sizeHoldsMs = 1_000;

/** Opens a spool, and completes files that a killed process has left. */
export async function openSpool(folder: string, now: () => number): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await completeLeftovers(folder);
  const writers = new Map<string, SpoolWriter>();
  let known = { atMs: Number.NEGATIVE_INFINITY, bytes: 0 };
  const completeAll = async () => {
    await Promise.all([...writers.values()].map((writer) => writer.complete()));
  };
  return {
    append(sourceId, lines) {
      let writer = writers.get(sourceId);
      if (writer === undefined) writers.set(sourceId, (writer = createWriter(join(folder, sourceId), now)));
      return writer.append(lines);
    },
    complete: completeAll,
    async size() {
      if (now() - known.atMs > sizeHoldsMs) known = { atMs: now(), bytes: await sizeOf(folder) };
      return known.bytes;
    },
    close: completeAll,
  };
}

interface SpoolWriter {
  append(lines: readonly string[]): Promise<void>;
  complete(): Promise<void>;
}

interface Pending {
  readonly lines: readonly string[];
  readonly written: PromiseWithResolvers<void>;
}

/** Writes the files of one source. Deliveries that come together share one sync. */
function createWriter(folder: string, now: () => number): SpoolWriter {
  let file: SpoolFile | null = null;
  let pending: Pending[] = [];
  let turn: Promise<void> = Promise.resolve();
  let made = 0;

  async function write(): Promise<void> {
    const together = pending;
    pending = [];
    if (together.length === 0) return;
    try {
      file ??= await openFile(folder, `${now()}-${process.pid}-${++made}`);
      await file.write(together.flatMap(({ lines }) => lines));
      for (const { written } of together) written.resolve();
    } catch (cause) {
      // After a failed sync nothing is known of the file: the next lines go into another one.
      await file?.giveUp();
      file = null;
      for (const { written } of together) written.reject(cause);
    }
  }

  async function complete(): Promise<void> {
    await file?.complete();
    file = null;
  }

  /** Runs work after all that was begun before. */
  const inTurn = (work: () => Promise<void>) => (turn = turn.then(work));
  return {
    append(lines) {
      const written = Promise.withResolvers<void>();
      pending.push({ lines, written });
      inTurn(write).catch(() => undefined);
      return written.promise;
    },
    complete: () => inTurn(complete),
  };
}

interface SpoolFile {
  write(lines: readonly string[]): Promise<void>;
  complete(): Promise<void>;
  /** Takes back what was written since the last sync. */
  giveUp(): Promise<void>;
}

async function openFile(folder: string, name: string): Promise<SpoolFile> {
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
      syncedBytes += bytes.length;
    },
    async complete() {
      await handle.close();
      await rename(path, join(folder, `${name}.ndjson`));
    },
    async giveUp() {
      await settle(handle.close());
      await settle(truncate(path, syncedBytes));
      await settle(rename(path, join(folder, `${name}.ndjson`)));
    },
  };
}

/** A failure is ignored: the next start does what is left. */
async function settle(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

async function syncFolder(folder: string): Promise<void> {
  const handle: FileHandle = await open(folder, "r");
  await handle.sync();
  await handle.close();
}

/** Cuts off a line without its end: it was never answered, and its vendor sends it again. */
async function completeLeftovers(folder: string): Promise<void> {
  for (const path of await filesIn(folder)) {
    if (!path.endsWith(".part")) continue;
    const text = await Bun.file(path).bytes();
    const whole = text.lastIndexOf(10) + 1;
    if (whole === 0) {
      await rm(path);
      continue;
    }
    await truncate(path, whole);
    await rename(path, path.replace(/\.part$/, ".ndjson"));
  }
}

/** The files that wait for their import. What was rejected or failed lies deeper. */
async function filesIn(folder: string): Promise<string[]> {
  const sources = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const perSource = sources.map(async ({ name }) => {
    const files = await readdir(join(folder, name), { withFileTypes: true });
    return files.filter((file) => file.isFile()).map((file) => join(folder, name, file.name));
  });
  return (await Promise.all(perSource)).flat();
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = (await filesIn(folder)).map(async (path) => {
    // The import may have taken it in this very moment.
    const found = await stat(path).catch(() => null);
    return found?.size ?? 0;
  });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}
