/** Copies of the project with deliberate defects. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** The folder of the project. */
export const project = join(import.meta.dir, "../../..");

export interface Patch {
  /** Relative to the folder of the project. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Folders that are not part of the product, or are linked. */
const leftOut: ReadonlySet<string> = new Set(["node_modules", "data", "dist"]);
/** Bun's bundler creates and deletes files with a leading dot while other tests run. Copying would fail on them. */
const isCopied = (name: string) => name === ".ci" || !(name.startsWith(".") || leftOut.has(name));

/** Copies the project and breaks lines of the copy. Throws if such a line is not in its file exactly once. */
export function breakBuild(patches: readonly Patch[]): string {
  const folder = mkdtempSync(join(tmpdir(), "leadfile-broken-"));
  for (const name of readdirSync(project).filter(isCopied)) {
    const filter = (source: string) => !leftOut.has(basename(source));
    cpSync(join(project, name), join(folder, name), { recursive: true, filter });
  }
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
  for (const patch of patches) writeFileSync(join(folder, patch.file), brokenFile(patch, folder));
  return folder;
}

/** Adds a migration to a copy of the project, as its next version may have. */
export function addMigration(build: string, ...statements: readonly string[]): void {
  const path = join(build, "drizzle/meta/_journal.json");
  const journal = JSON.parse(readFileSync(path, "utf8"));
  journal.entries.push({ ...journal.entries.at(-1), when: Date.parse("2100-01-01"), tag: "9999_next" });
  writeFileSync(path, JSON.stringify(journal));
  writeFileSync(join(build, "drizzle/9999_next.sql"), statements.join("--> statement-breakpoint\n"));
}

/** Returns the text of a file with a broken line. Throws if the line is not in the file exactly once. */
export function brokenFile({ file, from, to }: Patch, folder = project): string {
  const text = readFileSync(join(folder, file), "utf8");
  const places = text.split(from).length - 1;
  if (places !== 1) throw new Error(`${file} has ${places} places that read ${JSON.stringify(from)}; one is needed`);
  // A function, because `$` has a meaning in a replacement text.
  return text.replace(from, () => to);
}
