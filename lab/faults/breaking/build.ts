/** A copy of the product with lines broken on purpose. */
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** The folder of the project. */
export const project = join(import.meta.dir, "../../..");

export interface Patch {
  /** From the folder of the project on. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Folders that are no part of the product, or are linked. */
const leftOut: ReadonlySet<string> = new Set(["node_modules", ".git", ".venv", "data", "dist"]);

/** Copies the project and breaks lines of the copy. Throws if such a line is not in its file exactly once. */
export function breakBuild(patches: readonly Patch[]): string {
  const folder = mkdtempSync(join(tmpdir(), "leadfile-broken-"));
  cpSync(project, folder, { recursive: true, filter: (source) => !leftOut.has(basename(source)) });
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
  for (const patch of patches) writeFileSync(join(folder, patch.file), brokenFile(patch, folder));
  return folder;
}

/** Returns the text of a file with a broken line. Throws if the line is not in the file exactly once. */
export function brokenFile({ file, from, to }: Patch, folder = project): string {
  const text = readFileSync(join(folder, file), "utf8");
  const places = text.split(from).length - 1;
  if (places !== 1) throw new Error(`${file} has ${places} places that read ${JSON.stringify(from)}; one is needed`);
  // A function, because a text would have its dollars read.
  return text.replace(from, () => to);
}
