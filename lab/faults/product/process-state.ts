/** What the system says of a running process. */
import { readdirSync, readFileSync } from "node:fs";

/** The memory that it holds, in bytes. */
export function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** How many descriptors it has open. */
export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Whether the system tells such things at all. */
export function missingProc(): string | null {
  return process.platform === "linux" ? null : "there is no /proc";
}
