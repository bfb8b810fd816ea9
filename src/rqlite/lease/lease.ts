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

/** How far the cluster is, as the majority answers. */
export interface Heard {
  /** The count of the revision. */
  readonly count: number;
  /** The id of the last write; null where none is remembered. */
  readonly lastWrite: string | null;
}

/** What the own file shows. */
export interface Shown {
  /** The count of the revision. */
  count(): number;
  /** Whether it has a write. */
  hasWrite(id: string): boolean;
}

export interface Lease {
  /** To be called before the majority is asked. */
  begin(): Question;
  /** The answer of the majority to a question. */
  answered(question: Question, heard: Heard): void;
  /** Whether the own file lags behind an answer. */
  isWaiting(): boolean;
  /** To be called when the own file shows something new. */
  seen(shown: Shown): void;
  /** Another file lies at the path: what the old one has shown means nothing. */
  lose(): void;
  /** Whether this node may answer now. */
  holds(): boolean;
}

export function createLease(clocks: Clocks): Lease {
  let waiting: { readonly question: Question; readonly heard: Heard }[] = [];
  let held: Question | null = null;

  function holds(): boolean {
    if (held === null) return false;
    if (clocks.monotonicMs() - held.monotonicMs > leaseMs) return false;
    // A machine that was suspended has a monotonic clock that stood still.
    return Math.abs(clocks.wallMs() - held.wallMs) <= leaseMs;
  }

  /** Without a lease the file may lie far back: a node that starts would not know a key that was made last week. */
  function isReached({ count, lastWrite }: Heard, shown: Shown): boolean {
    return count <= shown.count() && (holds() || lastWrite === null || shown.hasWrite(lastWrite));
  }

  return {
    begin: () => ({ monotonicMs: clocks.monotonicMs(), wallMs: clocks.wallMs() }),
    answered(question, heard) {
      // One whose time is up gives nothing any more.
      waiting = waiting.filter((one) => question.monotonicMs - one.question.monotonicMs <= leaseMs);
      waiting.push({ question, heard });
    },
    isWaiting: () => waiting.length > 0,
    seen(shown) {
      const reached = waiting.filter(({ heard }) => isReached(heard, shown));
      for (const { question } of reached) {
        if (held === null || question.monotonicMs > held.monotonicMs) held = question;
      }
      waiting = waiting.filter((one) => !reached.includes(one));
    },
    lose() {
      waiting = [];
      held = null;
    },
    holds,
  };
}
