/**
 * Answers counted as bare numbers. Counting each of them in the metrics of the library took a tenth of a request;
 * these are handed to it when somebody asks.
 */

/** The upper ends of the classes of time, in seconds. */
export const timeClasses = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1] as const;

/** Answers alike in route, status and error code. */
export interface Series {
  readonly route: string;
  readonly status: number;
  /** Of an error, or empty. */
  readonly code: string;
  count: number;
  /** The time that they took together. */
  seconds: number;
  /** How many took so long: one number for each class, and one for what is above them all. */
  readonly perClass: number[];
}

export interface Tally {
  add(route: string, status: number, code: string, seconds: number): void;
  all(): Iterable<Series>;
}

export function createTally(): Tally {
  const kept = new Map<string, Series>();
  let last: Series | null = null;

  function seriesOf(route: string, status: number, code: string): Series {
    // One answer is mostly like the one before it.
    if (last !== null && last.route === route && last.status === status && last.code === code) return last;
    const name = `${status} ${route} ${code}`;
    let series = kept.get(name);
    if (series === undefined) {
      series = { route, status, code, count: 0, seconds: 0, perClass: Array(timeClasses.length + 1).fill(0) };
      kept.set(name, series);
    }
    last = series;
    return series;
  }

  return {
    add(route, status, code, seconds) {
      const series = seriesOf(route, status, code);
      series.count++;
      series.seconds += seconds;
      let place = 0;
      while (place < timeClasses.length && seconds > (timeClasses[place] ?? 0)) place++;
      series.perClass[place] = (series.perClass[place] ?? 0) + 1;
    },
    all: () => kept.values(),
  };
}
