/** The name and the version of the program. The number is in package.json; the commit comes from the build or the clone. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";

/** True for the program of an installed service, whose commands leadfile-admin runs as the user of the service. */
const isService =
  Bun.isStandaloneExecutable &&
  process.execPath.startsWith("/usr/local/bin/leadfile") &&
  existsSync("/usr/local/sbin/leadfile-admin");

/** The program of an admin command, as advice and examples show it. */
export const adminCommand = isService ? "leadfile-admin" : Bun.isStandaloneExecutable ? "leadfile" : "bun admin";

/** The command that starts the server, as advice shows it: an installed release has no bun. */
export const startCommand = isService
  ? "systemctl start leadfile"
  : Bun.isStandaloneExecutable
    ? "leadfile serve"
    : "bun start";

/** The option with which the server starts an admin command as its child process. */
export const childOption = "--child";

/** Returns whether this process is a child of the server. */
export function isChildProcess(): boolean {
  return process.argv.includes(childOption);
}

/** Defined by deploy/build.ts. Not defined if the program runs from its sources. */
declare const LEADFILE_COMMIT: string | undefined;

/** The short commit of this build; null if it is not known, as in a folder without .git. */
export const commit = typeof LEADFILE_COMMIT === "string" ? LEADFILE_COMMIT || null : commitOfClone();

/** Version and commit, such as `0.2.0 (a1b2c3d)`. */
export const build = commit === null ? version : `${version} (${commit})`;

/** Reads the checked-out commit from .git itself, so that the program needs no git. */
function commitOfClone(): string | null {
  const git = join(import.meta.dir, "../../.git");
  try {
    const head = readFileSync(join(git, "HEAD"), "utf8").trim();
    const ref = /^ref: (.+)$/.exec(head)?.[1];
    return (ref === undefined ? head : commitOfRef(git, ref)).slice(0, 7);
  } catch {
    // An unpacked archive has no .git, and that of a worktree is no folder.
    return null;
  }
}

function commitOfRef(git: string, ref: string): string {
  try {
    return readFileSync(join(git, ref), "utf8");
  } catch {
    const packed = readFileSync(join(git, "packed-refs"), "utf8");
    const line = packed.split("\n").find((entry) => entry.endsWith(` ${ref}`));
    if (line === undefined) throw new Error(`${ref} is neither a file nor a packed ref`);
    return line;
  }
}
