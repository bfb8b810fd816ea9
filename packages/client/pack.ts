/** Packs the client as npm does, and puts the package where each server has it, at /docs/client.tgz: `bun run pack`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The package that servers have. */
export const servedPackage = join(import.meta.dir, "../../src/api/docs/client.tgz");

/** Packs the client into a folder. Returns the path of the package. */
export async function pack(folder: string): Promise<string> {
  const said = await Bun.$`npm pack --silent --pack-destination ${folder}`.cwd(import.meta.dir).text();
  return join(folder, said.trim().split("\n").at(-1) ?? "");
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), "leadfile-pack-"));
  await Bun.write(servedPackage, Bun.file(await pack(folder)));
  rmSync(folder, { recursive: true });
}
