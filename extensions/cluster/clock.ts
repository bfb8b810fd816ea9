/**
 * The time of the majority of the nodes. A machine whose clock is wrong would expire keys, erase leads, and raise alerts at the
 * wrong time.
 */
import { listMembers, withinDistance } from "./members.ts";
import type { RqliteNode } from "./node.ts";
import { askPosition } from "./transaction.ts";

/** The time by both clocks of the machine. */
export interface Clocks {
  /** Milliseconds that only increase. They may stop while the machine is suspended. */
  readonly monotonicMs: number;
  /** Unix milliseconds, which somebody may set. */
  readonly wallMs: number;
}

/** Reads the clocks of this machine. */
export const readClocks = (): Clocks => ({ monotonicMs: performance.now(), wallMs: Date.now() });

/** Smaller differences are those between two measurements: the time must not go back and forth. */
const minStepMs = 1_000;

/** Creates a clock that shows the time of this machine until it is corrected. After that, nobody can set it. */
export function createMajorityClock(read = readClocks) {
  /** The difference of the time to the monotonic clock. */
  let leadMs: number | null = null;
  return {
    now(): number {
      const { monotonicMs, wallMs } = read();
      return leadMs === null ? wallMs : Math.round(monotonicMs + leadMs);
    },
    /** Takes the time by which the clock of this machine was just found to be behind that of the majority. */
    correct(offMs: number): void {
      const { monotonicMs, wallMs } = read();
      const measuredMs = wallMs - monotonicMs + offMs;
      if (leadMs !== null && Math.abs(measuredMs - leadMs) < minStepMs) return;
      leadMs = Math.abs(offMs) < minStepMs ? wallMs - monotonicMs : measuredMs;
    },
  };
}

/**
 * Returns how far the clock of this machine is behind that of the majority, from how far it is behind each other one. If as
 * many clocks agree with it as do not, such as one and one, nobody knows which is right, and it counts as off.
 */
export function disagreementOf(others: readonly number[]): number {
  const sorted = [0, ...others].toSorted((one, other) => one - other);
  const middle = [sorted[Math.floor((sorted.length - 1) / 2)] ?? 0, sorted[Math.floor(sorted.length / 2)] ?? 0];
  return middle.toSorted((one, other) => Math.abs(other) - Math.abs(one))[0] ?? 0;
}

/** A node that cannot be reached within this time must not delay each command. */
const reachWithinMs = 300;
/** A machine may be busy, but a wrong clock has to be noticed. */
const timeoutMs = 1_000;

/** Asks the other nodes how far the clock of this machine is behind that of the majority; null if none answers. */
export async function measureClock(node: RqliteNode): Promise<number | null> {
  const others = (await listMembers(node, reachWithinMs)).filter(({ name }) => name !== node.name);
  const asking = others.map((one) => askPosition(one, null, withinDistance(node, timeoutMs)).catch(() => null));
  const offMs = (await Promise.all(asking)).flatMap((state) => state?.clockOffMs ?? []);
  return offMs.length === 0 ? null : disagreementOf(offMs);
}
