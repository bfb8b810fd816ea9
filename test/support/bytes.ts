/** Looks for bytes in every file of a folder, as somebody would who has found the disk. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The files of a folder that hold one of the texts, or the bytes of it. */
export function filesWith(folder: string, ...texts: readonly (string | Uint8Array)[]): string[] {
  return readdirSync(folder)
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => {
      const bytes = readFileSync(join(folder, name));
      return texts.some((text) => bytes.includes(text));
    })
    .toSorted();
}
