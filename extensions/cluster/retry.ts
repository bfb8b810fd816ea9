/** Tries again what a cluster has not answered: each try gets more time than the one before. */
import { StoreError } from "../../src/store/errors.ts";

/** A large write on a busy machine gets this much in the end. */
const longestMs = 10_000;
const pauseMs = 100;

interface Patience {
  /** The time that the first try gets; each gets more than the one before. */
  readonly firstMs: number;
  readonly withinMs: number;
  /** The same where nobody listens at the address, so that nothing was ever sent. */
  readonly unsentMs: number;
  /** What is thrown where nothing came of what was sent. */
  readonly otherwise: "cluster not written" | "cluster not heard";
}

type Tried<Result> = { readonly result: Result } | { readonly reason: string; readonly isSent: boolean };

/** Tries until one try has a result; the others say why they have none. Throws the last reason as a StoreError. */
export function retry<Result>(
  { firstMs, withinMs, unsentMs, otherwise }: Patience,
  attempt: (timeoutMs: number) => Tried<Result>,
): Result {
  const begunMs = performance.now();
  let wasSent = false;
  for (let timeoutMs = firstMs; ; timeoutMs = Math.min(longestMs, timeoutMs * 1.5)) {
    const tried = attempt(timeoutMs);
    if ("result" in tried) return tried.result;
    wasSent ||= tried.isSent;
    if (performance.now() - begunMs > (wasSent ? withinMs : unsentMs)) {
      throw new StoreError({ kind: wasSent ? otherwise : "node silent", reason: tried.reason });
    }
    Bun.sleepSync(pauseMs);
  }
}
