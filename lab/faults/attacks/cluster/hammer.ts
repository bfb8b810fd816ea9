/** Clients that ask all servers of a cluster without a pause, and remember what each was answered, and when it had asked. */
import { type Place, statusAt } from "./places.ts";

export interface Asked {
  readonly place: Place;
  /** When the request began, on the clock of performance.now(). */
  readonly atMs: number;
  /** 0 where nobody answered. */
  readonly status: number;
}

export interface Hammer {
  /** All that was asked until now. */
  readonly asked: readonly Asked[];
  /** Waits until every server has served the key. */
  untilServed(): Promise<void>;
  /** Stops, and waits for the last answers. */
  end(): Promise<readonly Asked[]>;
}

export function hammer(all: readonly Place[], secret: string, pauseMs = 2): Hammer {
  const asked: Asked[] = [];
  let isOver = false;
  const asking = all.map(async (place) => {
    while (!isOver) {
      const atMs = performance.now();
      asked.push({ place, atMs, status: await statusAt(place, secret) });
      await Bun.sleep(pauseMs);
    }
  });
  return {
    asked,
    async untilServed() {
      const hasServed = (place: Place) => asked.some((one) => one.place === place && one.status === 200);
      for (const endMs = performance.now() + 60_000; performance.now() < endMs; await Bun.sleep(20)) {
        if (all.every(hasServed)) return;
      }
      throw new Error("a server has not served the key, so that nothing could be shown");
    },
    async end() {
      isOver = true;
      await Promise.all(asking);
      return asked;
    },
  };
}

/** How long after a moment the requests began that were answered with leads all the same. */
export function servedAfter(asked: readonly Asked[], momentMs: number): number[] {
  const late = asked.filter(({ status, atMs }) => status === 200 && atMs > momentMs);
  return late.map(({ atMs }) => Math.round(atMs - momentMs));
}

/** The median and the worst of some times, as they are reported. */
export function spread(timesMs: readonly number[]): string {
  const sorted = timesMs.toSorted((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return `${sorted.length}: median ${Math.round(median)} ms, worst ${Math.round(sorted.at(-1) ?? 0)} ms`;
}
