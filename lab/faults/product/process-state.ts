/** The state of a running process. */
import { readdirSync, readFileSync } from "node:fs";

/** Returns its memory, in bytes. */
export function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** Returns the number of its open descriptors. */
export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Returns the processes that it has started. */
export function childrenOf(pid: number): number[] {
  return filesOfThreads(pid, "children").flatMap((text) => text.trim().split(" ").filter(Boolean).map(Number));
}

/** Returns the content of a file of each of its threads, without threads that end meanwhile. */
export function filesOfThreads(pid: number, name: "children" | "stat"): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      return [readFileSync(`/proc/${pid}/task/${thread}/${name}`, "utf8")];
    } catch {
      return []; // The thread has ended.
    }
  });
}
