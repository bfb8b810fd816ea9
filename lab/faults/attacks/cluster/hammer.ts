/** Clients that send requests to all servers of a cluster without a pause, and record the answers. */
import { type Place, statusAt } from "./places.ts";

export interface Asked {
  readonly place: Place;
  /** The start of the request, by performance.now(). */
  readonly atMs: number;
  /** 0 if there was no answer. */
  readonly status: number;
}

export interface Hammer {
  /** The requests until now. */
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
      throw new Error("a server has not served the key, so nothing could be shown");
    },
    async end() {
      isOver = true;
      await Promise.all(asking);
      return asked;
    },
  };
}

/** The delays after a time of the requests that were still answered with leads. */
export function servedAfter(asked: readonly Asked[], timeMs: number): number[] {
  const late = asked.filter(({ status, atMs }) => status === 200 && atMs > timeMs);
  return late.map(({ atMs }) => Math.round(atMs - timeMs));
}

/**
 * Tries up to three times what is promised within seconds, because other work on the machine can delay it, but not each time.
 * Returns what was late in the last try: nothing once a try was in time.
 */
export async function lateInEach(attempt: () => Promise<readonly string[]>, tries = 3): Promise<readonly string[]> {
  const late = await attempt();
  return late.length === 0 || tries === 1 ? late : lateInEach(attempt, tries - 1);
}

/** Returns a function that takes one key after the other. There are enough for three tries of each turn. */
export function keysFor<Key>(turns: number, make: () => Key): () => Key {
  const keys = Array.from({ length: turns * 3 }, make);
  return () => {
    const key = keys.pop();
    if (key === undefined) throw new Error("there is a key for each try");
    return key;
  };
}
