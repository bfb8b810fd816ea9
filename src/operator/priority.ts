/** How willing this process is to wait: where the machine is busy the server goes first, because its clients wait. */
import { readdirSync } from "node:fs";
import { setPriority } from "node:os";

/** Lets this process run at a low priority, with all its threads. Those that come later take it from their maker. */
export function giveWay(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, 10);
    } catch {
      // A hardened service may not set it, and a thread may have just ended.
    }
  }
}

/** Linux sets the priority of each thread alone. Elsewhere there is no such folder, and 0 is the whole process. */
function threads(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    return [0];
  }
}
