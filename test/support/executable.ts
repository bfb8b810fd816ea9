/** The single executable, built once for the tests that ask for it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { aSharedFolder } from "./run.ts";

const root = join(import.meta.dir, "../..");
let built: string | null = null;

/** The path of `leadfile` as `bun run build` makes it, in a folder of its own. */
export function theExecutable(): string {
  if (built !== null && existsSync(built)) return built;
  const file = join(aSharedFolder(), "leadfile");
  const made = Bun.spawnSync([process.execPath, "run", "build", `--outfile=${file}`], { cwd: root });
  if (made.exitCode !== 0) throw new Error(`the build ended with ${made.exitCode}: ${made.stderr}`);
  return (built = file);
}
