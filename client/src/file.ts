/** @leadfile/client/file: a checkpoint in a file, for Node, Bun and Deno. */
import { open, readFile, rename } from "node:fs/promises";
import type { Checkpoint } from "./progress.ts";

/** The file is replaced wholly or not at all: a crash while it is written leaves the one before. */
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
      const next = await open(`${path}.next`, "w", 0o600);
      try {
        await next.writeFile(text);
        await next.sync();
      } finally {
        await next.close();
      }
      await rename(`${path}.next`, path);
    },
  };
}
