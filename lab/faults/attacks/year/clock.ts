/** The clock of a simulated year: it runs as fast as the real one, and jumps over the hours in which nothing happens. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export type Clock = ReturnType<typeof createClock>;

const lookMs = 60;
const patienceMs = 120_000;

export function createClock(folder: string, startMs: number) {
  const path = join(folder, "clock");
  writeFileSync(path, new Uint8Array(new Float64Array([startMs - Date.now()]).buffer));
  const ahead = new Float64Array(Bun.mmap(path).buffer);
  const now = () => Date.now() + (ahead[0] ?? 0);
  const pass = (ms: number) => {
    ahead[0] = (ahead[0] ?? 0) + Math.max(0, ms);
  };
  return {
    /** The environment of processes that are to have this clock; those that they start inherit it. */
    environment: { BUN_OPTIONS: `--preload=${join(import.meta.dir, "preload.ts")}`, LEADFILE_LAB_CLOCK: path },
    now,
    passTo: (ms: number) => pass(ms - now()),
    /** Lets time pass in steps until something holds; false if it does not within two real minutes. */
    async passUntil(holds: () => boolean, stepMs: number): Promise<boolean> {
      for (const endMs = performance.now() + patienceMs; performance.now() < endMs; pass(stepMs)) {
        if (holds()) return true;
        await Bun.sleep(lookMs);
      }
      return false;
    },
  };
}
