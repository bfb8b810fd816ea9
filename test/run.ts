/** What holds for every file of tests: loaded before them all (bunfig.toml). */
import { afterAll, setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// A test may start processes and a browser; five seconds are not enough on a busy machine.
setDefaultTimeout(60_000);

const folders: string[] = [];

// Here it comes after the last file, or in parallel after each. Bun tells nobody that the process of the tests ends.
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new empty folder for several tests; it is there until the last test of the file is over, at least. */
export function aSharedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "leadfile-run-"));
  folders.push(folder);
  return folder;
}
