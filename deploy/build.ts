/** Compiles server and commands into one executable: `bun run build [--target=bun-linux-arm64] [--outfile=FILE]`. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dir, "..");

/** Compiles for a target of Bun, or for this machine. Throws with what the compiler said if it fails. */
export function compile(outfile: string, commit: string, target?: string, sources = root): void {
  const made = Bun.spawnSync(
    [
      ...[process.execPath, "build", "--compile", "--no-compile-autoload-bunfig", "--no-compile-autoload-dotenv"],
      ...["--entry-naming=[name].[ext]", "--asset=drizzle", `--outfile=${outfile}`],
      ...(target === undefined ? [] : [`--target=${target}`]),
      ...["--define", `LEADFILE_COMMIT=${JSON.stringify(commit)}`],
      ...entryFiles(sources),
    ],
    { cwd: sources },
  );
  if (made.exitCode !== 0) throw new Error(`bun build ended with ${made.exitCode}: ${made.stderr}`);
}

/** Returns the files that the compiler begins with. Threads are separate files, which it does not find by itself. */
export function entryFiles(sources: string): string[] {
  return ["src/admin.ts", ...[...new Bun.Glob("{src,extensions}/**/*-worker.ts").scanSync(sources)].toSorted()];
}

/** Runs git in the root of the project and gives what it printed. */
export function git(...args: string[]): string {
  const ended = Bun.spawnSync(["git", ...args], { cwd: root });
  if (ended.exitCode !== 0) throw new Error(`git ${args.join(" ")} failed: ${ended.stderr}`);
  return ended.stdout.toString().trim();
}

/** The short commit that is checked out, with `+` if something has been changed since; empty without a clone. */
export function checkedOutCommit(): string {
  if (!existsSync(join(root, ".git"))) return "";
  const changed = git("status", "--porcelain", "--untracked-files=no") === "" ? "" : "+";
  return git("rev-parse", "--short=7", "HEAD") + changed;
}

if (import.meta.main) {
  const { outfile, target } = parseArgs({
    options: { outfile: { type: "string" }, target: { type: "string" } },
  }).values;
  compile(resolve(outfile ?? "dist/leadfile"), checkedOutCommit(), target);
}
