/**
 * The spool: deliveries are here, on the disk, from before their answer until their import. Each source has a folder. A
 * file in it is `….part` while it is written, and `….ndjson` once it is complete.
 */
import { type FileHandle, mkdir, open, rename, rm, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";

export type Spool = Awaited<ReturnType<typeof openSpool>>;

const sizeValidMs = 1_000;

/** Opens a spool, and completes files that a killed process has left. */
export async function openSpool(folder: string, now: () => number) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await completeLeftovers(folder);
  const writers = new Map<string, ReturnType<typeof createWriter>>();
  let known = { atMs: Number.NEGATIVE_INFINITY, bytes: 0 };
  return {
    /** Resolves when the line is on the disk. If it throws, nothing of it is stored. */
    append(sourceId: string, line: string): Promise<void> {
      return writers.getOrInsertComputed(sourceId, () => createWriter(join(folder, sourceId), now)).append(line);
    },
    /** Completes the files, so that the import takes them. If it throws, the next start completes the others. */
    async complete() {
      const ended = await Promise.allSettled([...writers.values()].map((writer) => writer.complete()));
      for (const end of ended) if (end.status === "rejected") throw end.reason;
    },
    /** The bytes of all files, at most a second old. */
    async size() {
      if (Math.abs(now() - known.atMs) > sizeValidMs) known = { atMs: now(), bytes: await sizeOf(folder) };
      return known.bytes;
    },
  };
}

/** Writes the files of one source. */
function createWriter(folder: string, now: () => number) {
  let file: OpenFile | null = null;
  /** Deliveries that came together and are not being written yet. They share one sync. */
  let next: { text: string; readonly written: Promise<void> } | null = null;
  let turn: Promise<void> = Promise.resolve();
  let created = 0;

  async function write(): Promise<void> {
    const text = next?.text ?? "";
    next = null;
    try {
      file ??= await createFile(folder, `${now()}-${process.pid}-${++created}`);
      await writeText(file, text);
    } catch (cause) {
      // After a failed sync nothing is known of the file: the next lines go into another one.
      // The next start does what fails here.
      await complete().catch(() => undefined);
      throw cause;
    }
  }

  async function complete(): Promise<void> {
    const whole = file;
    file = null;
    // What was acknowledged is synced, whatever closing says.
    await whole?.handle.close().catch(() => undefined);
    if (whole !== null) await completeFile(whole.path, whole.syncedBytes);
  }

  /** Runs work after all earlier work, whether that succeeded or not. */
  const inTurn = (work: () => Promise<void>) => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };
  return {
    append(line: string): Promise<void> {
      next ??= { text: "", written: inTurn(write) };
      next.text += `${line}\n`;
      return next.written;
    },
    complete: () => inTurn(complete),
  };
}

/** A file that is being written. */
interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  syncedBytes: number;
}

/** Creates a file. Its name is on the disk before anything is in it. */
async function createFile(folder: string, name: string): Promise<OpenFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.part`);
  const handle = await open(path, "ax", 0o600);
  for (const parent of [folder, dirname(folder)]) {
    await using opened = await open(parent, "r");
    await opened.sync();
  }
  return { path, handle, syncedBytes: 0 };
}

/** Resolves when the text is on the disk. */
async function writeText(file: OpenFile, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  await file.handle.appendFile(bytes);
  await file.handle.datasync();
  if ((await file.handle.stat()).nlink === 0) throw new Error("the file in the spool was removed");
  file.syncedBytes += bytes.length;
}

/** Cuts a file after its whole lines, and gives it the name under which the import takes it; removes it if it has none. */
async function completeFile(path: string, wholeBytes: number): Promise<void> {
  if (wholeBytes === 0) return rm(path);
  await truncate(path, wholeBytes);
  await rename(path, path.replace(/\.part$/, ".ndjson"));
}

/** Completes files without their last line if that has no end: it was never answered, and its vendor sends it again. */
async function completeLeftovers(folder: string): Promise<void> {
  for (const path of [...new Bun.Glob("*/*.part").scanSync({ cwd: folder, absolute: true })]) {
    await completeFile(path, (await Bun.file(path).bytes()).lastIndexOf(10) + 1);
  }
}

/** Returns the bytes of the files that wait for their import. Rejected rows and failed files are in folders below. */
async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for await (const path of new Bun.Glob("*/*").scan({ cwd: folder, absolute: true })) bytes += Bun.file(path).size;
  return bytes;
}
