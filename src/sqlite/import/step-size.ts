/** How many leads to write in a step: as many as take about as long as a step may, on a slow machine as on a fast one. */

interface Bounds {
  readonly least: number;
  readonly most: number;
  /** A step that took less may be twice as large. */
  readonly shortMs: number;
  /** After a step that took longer, the next one is half as large. */
  readonly longMs: number;
}

export function createStepSize({ least, most, shortMs, longMs }: Bounds) {
  let size = least;
  return {
    /** The size of the next step. */
    leads: () => size,
    /** Does one step, and takes its time. */
    timed<Result>(step: () => Result): Result {
      const begunMs = performance.now();
      const result = step();
      const tookMs = performance.now() - begunMs;
      if (tookMs > longMs) size = Math.max(least, Math.floor(size / 2));
      if (tookMs < shortMs) size = Math.min(most, size * 2);
      return result;
    },
  };
}
