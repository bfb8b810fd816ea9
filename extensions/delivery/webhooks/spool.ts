/**
 * The spool: deliveries lie here, on the disk, from before their answer until their import. Each source has a folder. A
 * file in it is `….part` while it is written, and `….ndjson` once it is complete.
 */
import { mkdir, readdir, rename, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { openSpoolFile, type SpoolFile } from "./spool-file.ts";

export interface Spool {
  /** Resolves when the lines are on the disk. When it throws, none of them is kept. */
  append(sourceId: string, lines: readonly string[]): Promise<void>;
  /** Completes the files, so that the import takes them. When it throws, the next start completes what is left. */
  complete(): Promise<void>;
  /** The bytes of all files, at most a second old. */
  size(): Promise<number>;
}

const sizeHoldsMs = 1_000;

/** Opens a spool, and completes files that a killed process has left. */
export async function openSpool(folder: string, now: () => number): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await completeLeftovers(folder);
  const writers = new Map<string, SpoolWriter>();
  let known = { atMs: Number.NEGATIVE_INFINITY, bytes: 0 };
  return {
    append(sourceId, lines) {
      return writers.getOrInsertComputed(sourceId, () => createWriter(join(folder, sourceId), now)).append(lines);
    },
    async complete() {
      const ended = await Promise.allSettled([...writers.values()].map((writer) => writer.complete()));
      for (const end of ended) if (end.status === "rejected") throw end.reason;
    },
    async size() {
      if (Math.abs(now() - known.atMs) > sizeHoldsMs) known = { atMs: now(), bytes: await sizeOf(folder) };
      return known.bytes;
    },
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
      file ??= await openSpoolFile(folder, `${now()}-${process.pid}-${++made}`);
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
    const whole = file;
    file = null;
    await whole?.complete();
  }

  /** Runs work after all that was begun before, whether that succeeded or not. */
  const inTurn = (work: () => Promise<void>) => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };
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
