/** The package as npm would publish it, built once for the tests that ask for it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { aSharedFolder } from "../../support/run.ts";

const client = join(import.meta.dir, "../../../packages/client");

let tarball: string | null = null;

/** Packs the client, as `npm pack` does it for publishing. */
export function packed(): string {
  if (tarball !== null && existsSync(tarball)) return tarball;
  const folder = aSharedFolder();
  const made = run(["npm", "pack", "--silent", "--pack-destination", folder], client);
  tarball = join(folder, made.trim().split("\n").at(-1) ?? "");
  return tarball;
}

/** Unpacks the package into a folder's node_modules, as an installation does; gives the folder. */
export function install(folder: string): string {
  const place = join(folder, "node_modules/@leadfile/client");
  run(["mkdir", "-p", place], folder);
  run(["tar", "-xzf", packed(), "-C", place, "--strip-components=1"], folder);
  return folder;
}

/** Runs a command to its end and gives what it printed; throws with what it said when it failed. */
export function run(command: string[], folder: string): string {
  const ended = Bun.spawnSync(command, { cwd: folder, stdout: "pipe", stderr: "pipe" });
  if (ended.exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${ended.stdout}${ended.stderr}`);
  return ended.stdout.toString();
}
