/** The processes that have a database open, as Linux shows them in /proc. Another system, or another user, sees none. */
import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { filesOf, serverLockOf } from "./database-files.ts";
import { orElse } from "./failure.ts";

/** A process with the database, its log, or its lock open. */
export interface OpenProcess {
  readonly pid: number;
  /** Its descriptors of these files, as paths in /proc; empty for a service that hides them. */
  readonly descriptors: readonly string[];
  /** True if its program was deleted or replaced since it started. */
  readonly isReplaced: boolean;
  /** The service of systemd to which it belongs; null if it belongs to none. */
  readonly service: string | null;
}

/** Finds the processes that opened the database at this path, which may have another file now. */
export function processesWith(path: string): OpenProcess[] {
  const real = orElse(() => join(realpathSync(dirname(path)), basename(path)), path);
  const names = new Set([...filesOf(real), serverLockOf(real)]);
  const pids = entries("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const folder = `/proc/${pid}`;
    const all = entries(`${folder}/fd`).map((name) => `${folder}/fd/${name}`);
    const descriptors = all.filter((descriptor) => names.has(linkOf(descriptor).replace(/ \(deleted\)$/, "")));
    const service = serviceOf(folder);
    if (descriptors.length > 0) {
      return [{ pid: Number(pid), descriptors, isReplaced: linkOf(`${folder}/exe`).endsWith(" (deleted)"), service }];
    }
    // PrivateUsers= hides the files of a service from commands, even those of the same user.
    const isHidden = service !== null && linkOf(`${folder}/exe`) === "";
    return isHidden ? [{ pid: Number(pid), descriptors, isReplaced: isOlderThanProgram(pid), service }] : [];
  });
}

/** Returns the services to which processes belong, as arguments of systemctl; empty if there are none. */
export function servicesOf(processes: readonly OpenProcess[]): string {
  return [...new Set(processes.flatMap(({ service }) => service ?? []))].toSorted().join(" ");
}

/** Returns whether a process started before the program of this process got its name. */
function isOlderThanProgram(pid: string): boolean {
  // The name of the program is in parentheses, and may contain blanks. The start is in hundredths of a second since boot.
  const ticks = orElse(() => readFileSync(`/proc/${pid}/stat`, "utf8"), "")
    .split(") ")
    .at(-1)
    ?.split(" ")[19];
  const bootSeconds = /^btime (\d+)$/m.exec(orElse(() => readFileSync("/proc/stat", "utf8"), ""))?.[1];
  const namedMs = statSync(process.execPath, { throwIfNoEntry: false })?.ctimeMs;
  if (ticks === undefined || bootSeconds === undefined || namedMs === undefined) return false;
  return Number(bootSeconds) * 1000 + Number(ticks) * 10 < namedMs;
}

function serviceOf(folder: string): string | null {
  const cgroups = orElse(() => readFileSync(`${folder}/cgroup`, "utf8"), "");
  return /\/(leadfile[\w@.-]*)\.service$/m.exec(cgroups)?.[1] ?? null;
}

const linkOf = (path: string) => orElse(() => readlinkSync(path), "");

/** Returns the names in a folder; empty if the process has ended or belongs to another user. */
function entries(folder: string): string[] {
  return orElse(() => readdirSync(folder), []);
}
