/** What is made once for a whole run of the tests, and goes with it: loaded before all of them (bunfig.toml). */
import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

// Here it comes after the last file. Bun tells nobody that the process of the tests ends.
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new empty folder that is there until the last test is over. */
export function folderOfTheRun(): string {
  const folder = mkdtempSync(join(tmpdir(), "leadfile-run-"));
  folders.push(folder);
  return folder;
}
