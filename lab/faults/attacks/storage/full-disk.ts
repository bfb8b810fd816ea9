/** A disk without room: for an import, and for everything on a tmpfs. */
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { documentsOf, isWhole, look, prepareKey } from "../../product/contents.ts";
import { admin, startServer } from "../../product/program.ts";
import { expectRefusal, makeKeyCommand, type Scene } from "./served-file.ts";

const importedRows = 300;

/** The disk is full from some write on: the import fails, and its re-run brings every row. */
export async function importOnFullDisk(scene: Scene): Promise<void> {
  const { build, folder, file, random, expect } = scene;
  const exported = join(folder, "export.csv");
  const rows = Array.from({ length: importedRows }, (_, n) => `2026-03-01,full${n}@example.com`);
  writeFileSync(exported, `date,email\n${rows.join("\n")}\n`);
  const args = ["lead", "import", "acme", exported, "--pixel", "px_site", "--json"];
  const from = 2 + random.below(60);
  const inject = `inject=pwrite64:error=ENOSPC:when=${from}+`;
  const files = ["-P", file, "-P", `${file}-wal`];
  const tracer = ["strace", "-f", "-o", "/dev/null", ...files, "-e", "trace=pwrite64", "-e", inject];
  expectRefusal(scene, await admin(build, file, args, tracer), /full/);
  const again = await admin(build, file, args);
  expect(again.status === 0, () => `the re-run ended with ${again.status}: ${again.stderr}`);
  const found = look(file, (database) => ({ whole: isWhole(database), documents: documentsOf(database) }));
  const imported = found.documents.filter((document) => document.includes('"full')).length;
  expect(found.whole && imported === importedRows, () => `afterwards ${imported} of ${importedRows} rows are there`);
}

/** A real disk without room; skipped where this user may not mount one. */
export async function fullTmpfs(scene: Scene): Promise<unknown> {
  const { build, folder, expect } = scene;
  const mount = join(folder, "tmpfs");
  mkdirSync(mount);
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", mount]);
  if (mounted.exitCode !== 0) return "skipped";
  const file = join(mount, "leadfile.db");
  try {
    const secret = prepareKey(file, 200);
    const server = await startServer(build, file);
    const ask = async () => {
      const response = await fetch(`${server.url}/api/v1/usage`, { headers: { Authorization: `Bearer ${secret}` } });
      return response.status;
    };
    fill(join(mount, "filler"));
    const refused = await admin(build, file, makeKeyCommand);
    expectRefusal(scene, refused, /full|not full/);
    expect((await ask()) === 200, () => "a request failed while the disk was full");
    rmSync(join(mount, "filler"));
    const again = await admin(build, file, makeKeyCommand);
    expect(again.status === 0, () => `with room again the command ended with ${again.status}: ${again.stderr}`);
    expect((await ask()) === 200, () => "a request failed when there was room again");
    const ended = await server.end();
    expect(ended === 0, () => `the server ended with ${ended}: ${server.errors()}`);
  } finally {
    Bun.spawnSync(["umount", "-l", mount]);
  }
  return undefined;
}

function fill(path: string): void {
  const file = openSync(path, "w");
  for (const size of [65_536, 4096]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size, 1));
    } catch {
      // No room for so much; perhaps for less.
    }
  }
  closeSync(file);
}
