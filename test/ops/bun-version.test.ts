/** An older Bun is told which version is needed, before anything else of the project is loaded. */
import { expect, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aFolder } from "../support/folder.ts";

const root = join(import.meta.dir, "../..");

test.each<string[]>([
  ["run", "admin", "--version"],
  ["run", "start"],
  ["run", "demo"],
  ["src/main.ts"],
  ["src/admin.ts", "doctor"],
])("bun %s %s ends with one sentence if this Bun is too old", (...words) => {
  const folder = aFolder();
  for (const name of ["bunfig.toml", "src/runtime/bun-version.ts"]) cpSync(join(root, name), join(folder, name));
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ ...manifest, engines: { bun: ">=99.1.2" }, workspaces: [] }),
  );
  // What an old Bun reports first: an import of something that it lacks.
  const modern = 'import { nothing } from "node:fs"; console.log(nothing);\n';
  for (const name of ["main", "admin", "demo"]) writeFileSync(join(folder, `src/${name}.ts`), modern);
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...words], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "" },
  });
  const sentence = `Leadfile needs Bun 99.1.2 or later, and this is Bun ${Bun.version}. Run: bun upgrade\n`;
  expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([1, "", sentence]);
});
