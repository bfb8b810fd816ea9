/**
 * For how long this node may answer. A revocation must hold everywhere when its command returns, even where a node is cut
 * off. So a node asks the majority how far the cluster is, and answers for a few seconds after a question whose answer its
 * own file has reached. A command that cannot reach a node waits that long, and knows that the node is silent by then. No
 * two clocks are compared, only durations.
 */

/** A node answers for so long after the question that it has caught up with. */
export const leaseMs = 4_000;
/** How much longer a command waits for a node that it cannot reach: clocks may run differently fast. */
export const clockMarginMs = 200;

export interface Clocks {
  /** Milliseconds that only go on; they may stand still while the machine is suspended. */
  monotonicMs(): number;
  /** Unix milliseconds, which may be set. */
  wallMs(): number;
}

export interface Question {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export interface Lease {
  /** To be called before the majority is asked. */
  begin(): Question;
  /** The answer of the majority to a question. */
  answered(question: Question, count: number): void;
  /** Whether the own file lags behind an answer. */
  isWaiting(): boolean;
  /** What the own file shows. */
  seen(count: number): void;
  /** Another file lies at the path: what the old one has shown means nothing. */
  lose(): void;
  /** Whether this node may answer now. */
  holds(): boolean;
}

export function createLease(clocks: Clocks): Lease {
  let waiting: { readonly question: Question; readonly count: number }[] = [];
  let held: Question | null = null;

  return {
    begin: () => ({ monotonicMs: clocks.monotonicMs(), wallMs: clocks.wallMs() }),
    answered(question, count) {
      // One whose time is up gives nothing any more.
      waiting = waiting.filter((one) => question.monotonicMs - one.question.monotonicMs <= leaseMs);
      waiting.push({ question, count });
    },
    isWaiting: () => waiting.length > 0,
    seen(count) {
      for (const { question, count: wanted } of waiting) {
        if (wanted <= count && (held === null || question.monotonicMs > held.monotonicMs)) held = question;
      }
      waiting = waiting.filter((one) => one.count > count);
    },
    lose() {
      waiting = [];
      held = null;
    },
    holds() {
      if (held === null) return false;
      if (clocks.monotonicMs() - held.monotonicMs > leaseMs) return false;
      // A machine that was suspended has a monotonic clock that stood still.
      return Math.abs(clocks.wallMs() - held.wallMs) <= leaseMs;
    },
  };
}
