/** @leadfile/client/file: a checkpoint in a file, for Node, Bun and Deno. */
import { constants, open, readFile, rename, rm } from "node:fs/promises";
import type { Checkpoint } from "./progress.ts";

/** Returns a checkpoint in a file. The file is replaced as a whole or not at all, and a line that a crash cut off is ignored. */
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
      // A crash can have left one, and in a shared folder it can be a link.
      await rm(`${path}.next`, { force: true });
      await write(`${path}.next`, "wx", text);
      await rename(`${path}.next`, path);
    },
    // Does not create the file: a line alone is no checkpoint.
    add: (text) => write(path, constants.O_WRONLY | constants.O_APPEND, text),
  };
}

/** Returns when the text is on the disk. */
async function write(path: string, flags: string | number, text: string): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
