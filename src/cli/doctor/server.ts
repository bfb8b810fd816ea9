/** The running server: whether it answers, and whether it has the file open that lies at the path now. */
import { readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { adminCommand } from "../../operator/program-name.ts";
import { filesOf } from "../../store/database-files.ts";
import { askHealth } from "../server.ts";
import { broken, type Finding, fine } from "./finding.ts";

/** Finds nothing where no server runs, or where the system does not show it. */
export async function lookAtServer(path: string, url: string | null): Promise<Finding[]> {
  const ghosts = findGhosts(path);
  const findings = ghosts.map((pid) => {
    const what = `Process ${pid} has a file open that was since deleted, moved or replaced: what it writes gets lost.`;
    return broken(
      "server",
      what,
      `Restart it. If the file is gone, put back a backup first: ${adminCommand} restore FILE.`,
    );
  });
  const health = url === null ? "nobody" : await askHealth(url);
  if (health === "failing" && ghosts.length === 0) {
    const advice = "Read its log for the cause, mend it, and restart it.";
    findings.push(broken("server", `The server at ${url} says that it cannot read its database.`, advice));
  }
  if (health === "fine" && ghosts.length === 0) findings.push(fine("server", `It answers at ${url}.`));
  return findings;
}

/** Processes that opened the database at this path, though another file is there now. */
function findGhosts(path: string): number[] {
  const real = realPath(path);
  const now = statSync(path, { throwIfNoEntry: false });
  const same = (descriptor: string) => {
    const held = statSync(descriptor, { throwIfNoEntry: false });
    return held !== undefined && held.ino === now?.ino && held.dev === now.dev;
  };
  return processes().filter((pid) => {
    const held = heldBy(pid, real);
    // The log keeps its name when the file is moved away, and shows that this was the path of the database.
    return held.length > 0 && !held.some(({ descriptor }) => same(descriptor));
  });
}

function processes(): number[] {
  return entries("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

/** The descriptors of a process for the database or its log. Those of other users cannot be seen. */
function heldBy(pid: number, path: string): { descriptor: string }[] {
  const folder = `/proc/${pid}/fd`;
  const names = new Set(filesOf(path));
  return entries(folder)
    .map((name) => ({ descriptor: join(folder, name) }))
    .filter(({ descriptor }) => names.has(targetOf(descriptor).replace(/ \(deleted\)$/, "")));
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The path without links, also of a file that is gone. */
function realPath(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
