/** A command loads what it needs, and not much else. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { endWithTest } from "../support/child.ts";

const root = join(import.meta.dir, "../..");

/** Runs a command in a process of its own, and returns the source files that it has loaded. */
async function filesLoadedBy(file: string, ...words: readonly string[]): Promise<string[]> {
  const preload = join(root, "test/support/loaded-files.ts");
  const child = Bun.spawn([process.execPath, "--preload", preload, join(root, "src/admin.ts"), ...words], {
    env: { PATH: process.env["PATH"] ?? "", DATABASE_PATH: file },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  endWithTest(child);
  const [said, status] = await Promise.all([child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(said);
  return said.match(/(?<=^loaded ).*/gm) ?? [];
}

test("key revoke loads at most 20 source files", async () => {
  const admin = anAdmin();
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const loaded = await filesLoadedBy(admin.file, "key", "revoke", id);
  expect(loaded).toContain("src/cli/key/revoke.ts");
  expect(loaded.length > 20 ? loaded : []).toEqual([]);
});

test("the list of commands loads no command, and lead find no import", async () => {
  const admin = anAdmin();
  const ofHelp = await filesLoadedBy(admin.file, "--help");
  expect(ofHelp.filter((path) => /^src\/(cli\/(key|lead|doctor)|import|backup)\//.test(path))).toEqual([]);
  const ofFind = await filesLoadedBy(admin.file, "lead", "find", "acme", "--email", "dana@example.com");
  expect(ofFind.filter((path) => /^src\/(cli\/lead\/import|import\/write|backup)\//.test(path))).toEqual([]);
});
