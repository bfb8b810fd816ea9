/** Clients that send requests to servers without a pause, and record the answers. */

/** A server of a cluster, or a load balancer in front of them. */
export interface Target {
  readonly server: { readonly url: string };
}

export interface Asked {
  readonly of: Target;
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

/** The status of a page of leads; 0 if there is no answer. */
export async function statusAt({ server }: Target, secret: string): Promise<number> {
  try {
    const headers = { Authorization: `Bearer ${secret}` };
    const answer = await fetch(`${server.url}/api/v1/leads?limit=1`, { headers, signal: AbortSignal.timeout(2_000) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

export function hammer(all: readonly Target[], secret: string, pauseMs = 2): Hammer {
  const asked: Asked[] = [];
  let isOver = false;
  const asking = all.map(async (of) => {
    while (!isOver) {
      const atMs = performance.now();
      asked.push({ of, atMs, status: await statusAt(of, secret) });
      await Bun.sleep(pauseMs);
    }
  });
  return {
    asked,
    untilServed: () =>
      untilTrue("every server serves the key", 60_000, async () =>
        all.every((target) => asked.some(({ of, status }) => of === target && status === 200)),
      ),
    async end() {
      isOver = true;
      await Promise.all(asking);
      return asked;
    },
  };
}

/** Waits for a condition. Throws if it is not met in time. */
export async function untilTrue(what: string, withinMs: number, isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + withinMs; !(await isSo()); await Bun.sleep(20)) {
    if (performance.now() > endMs) throw new Error(`not in time: ${what}`);
  }
}

/** The delays after a time of the requests that were still answered with leads. */
export function servedAfter(asked: readonly Asked[], timeMs: number): number[] {
  const late = asked.filter(({ status, atMs }) => status === 200 && atMs > timeMs);
  return late.map(({ atMs }) => Math.round(atMs - timeMs));
}
