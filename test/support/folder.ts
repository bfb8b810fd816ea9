/** The temporary folder of a test, and the bytes in it. */
import { onTestFinished } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates a folder that is removed when the test is over. */
export function aFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "leadfile-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The files of a folder that hold one of the texts, or the bytes of it, as somebody finds them who has the disk. */
export function filesWith(folder: string, ...texts: readonly (string | Uint8Array)[]): string[] {
  return readdirSync(folder)
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => {
      const bytes = readFileSync(join(folder, name));
      return texts.some((text) => bytes.includes(text));
    })
    .toSorted();
}
