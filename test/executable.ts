/** The single executable, built once for all tests of a run that ask for it. */
import { join } from "node:path";
import { folderOfTheRun } from "./run.ts";

const root = join(import.meta.dir, "..");
let built: string | null = null;

/** The path of `leadfile` as `bun run build` makes it, in a folder of its own. */
export function theExecutable(): string {
  if (built !== null) return built;
  const file = join(folderOfTheRun(), "leadfile");
  const made = Bun.spawnSync([process.execPath, "run", "build", `--outfile=${file}`], { cwd: root });
  if (made.exitCode !== 0) throw new Error(`the build ended with ${made.exitCode}: ${made.stderr}`);
  return (built = file);
}
