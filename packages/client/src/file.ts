/** @leadfile/client/file: a checkpoint in a file, for Node, Bun and Deno. */
import { constants, open, readFile, rename, rm } from "node:fs/promises";
import type { Checkpoint } from "./progress.ts";

/** The file is replaced wholly or not at all, and a line that a crash cuts off is none: what was kept stays kept. */
export function fileCheckpoint(path: string): Checkpoint {
  return {
    async load() {
      try {
        return await readFile(path, "utf8");
      } catch (cause) {
        if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
        throw cause;
      }
    },
    async save(text) {
      // A crash may have left one, and in a folder of others it may be a link.
      await rm(`${path}.next`, { force: true });
      await write(`${path}.next`, "wx", text);
      await rename(`${path}.next`, path);
    },
    // Never made by this: a line alone would be no checkpoint.
    add: (text) => write(path, constants.O_WRONLY | constants.O_APPEND, text),
  };
}

/** Returns when it is on the disk. */
async function write(path: string, flags: string | number, text: string): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
