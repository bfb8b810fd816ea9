/** A temporary folder for one test, removed when the test is over. */
import { onTestFinished } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function aFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "leadfile-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
