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

/** What is not of the product, wherever it lies, or is linked. */
const leftOut: ReadonlySet<string> = new Set(["node_modules", ".git", ".venv", "data", "dist"]);

/** Copies the project and breaks it; throws when a line to be broken is not there exactly once. */
export function breakBuild(patches: readonly Patch[]): string {
  const folder = mkdtempSync(join(tmpdir(), "leadfile-broken-"));
  cpSync(project, folder, { recursive: true, filter: (source) => !leftOut.has(basename(source)) });
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
  for (const { file, from, to } of patches) {
    const text = readFileSync(join(folder, file), "utf8");
    const places = text.split(from).length - 1;
    if (places !== 1) throw new Error(`${file} has ${places} places that read ${JSON.stringify(from)}; one is needed`);
    // A function, because a text would have its dollars read.
    writeFileSync(
      join(folder, file),
      text.replace(from, () => to),
    );
  }
  return folder;
}
