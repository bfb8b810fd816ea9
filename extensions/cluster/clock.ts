/**
 * The time of the majority of the nodes. A machine whose clock is wrong would expire keys, erase leads, and raise alerts at the
 * wrong time.
 */

/** A reading of both clocks of the machine. */
export interface Clocks {
  /** Milliseconds that only increase. They may stop while the machine is suspended. */
  readonly monotonicMs: number;
  /** Unix milliseconds. NTP or an administrator may set this clock. */
  readonly wallMs: number;
}

/** Reads the clocks of this machine. */
export const readClocks = (): Clocks => ({ monotonicMs: performance.now(), wallMs: Date.now() });

/** Returns the time between two readings, by the clock that shows more. */
export function timeBetween(before: Clocks, after: Clocks): number {
  return Math.max(after.monotonicMs - before.monotonicMs, Math.abs(after.wallMs - before.wallMs));
}

/** Smaller differences are measurement noise. Correcting them would move the time back and forth. */
const minStepMs = 1_000;

/** Creates a clock that shows the time of this machine until it is corrected. After that, it ignores the machine's clock. */
export function createMajorityClock(read = readClocks) {
  /** The time minus the monotonic clock; null until the first correction. */
  let offsetMs: number | null = null;
  return {
    now(): number {
      const { monotonicMs, wallMs } = read();
      return offsetMs === null ? wallMs : Math.round(monotonicMs + offsetMs);
    },
    /**
     * Corrects the time by the lag of this machine's clock behind that of the majority. With only one other clock, it is
     * unknown which one is right, so the time is not corrected.
     */
    correct({ clockOffMs: offMs, others }: { readonly clockOffMs: number; readonly others: readonly unknown[] }): void {
      if (others.length < 2) return;
      const { monotonicMs, wallMs } = read();
      const measuredMs = wallMs - monotonicMs + offMs;
      if (offsetMs !== null && Math.abs(measuredMs - offsetMs) < minStepMs) return;
      offsetMs = Math.abs(offMs) < minStepMs ? wallMs - monotonicMs : measuredMs;
    },
  };
}

/**
 * Returns how far the clock of this machine is behind that of the majority, given how far it is behind each other clock. In a
 * tie, such as with two machines, no clock is known to be right, and this one counts as wrong.
 */
export function disagreementOf(others: readonly number[]): number {
  const sorted = [0, ...others].toSorted((one, other) => one - other);
  const middle = [sorted[Math.floor((sorted.length - 1) / 2)] ?? 0, sorted[Math.floor(sorted.length / 2)] ?? 0];
  return middle.toSorted((one, other) => Math.abs(other) - Math.abs(one))[0] ?? 0;
}
