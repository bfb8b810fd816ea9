/**
 * For how long this node may answer. A revocation must hold everywhere when its command returns, even where a node is cut
 * off. So a node asks the majority how far the cluster is, and answers for a few seconds after a question whose answer its
 * own file has reached. A command that cannot reach a node waits that long, and knows that the node is silent by then. No
 * two clocks are compared, only durations.
 */
import type { LastWrite } from "../last-write.ts";

/** How long a node answers after the question that it has caught up with. */
export const leaseMs = 4_000;
/** A node that lags may answer with a state of this age, unless something since must hold at once. */
const mostBehindMs = 30_000;
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
  /** Null where none is remembered. */
  readonly lastWrite: LastWrite | null;
}

/** What the own file shows. */
export interface Shown {
  /** The count of the revision. */
  revision(): number;
  /** The number that it has for a write; undefined where it does not show it. */
  numberOf(id: string): number | undefined;
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

interface Answered {
  readonly question: Question;
  readonly heard: Heard;
}

export function createLease(clocks: Clocks): Lease {
  let waiting: Answered[] = [];
  let held: Question | null = null;
  /** The last question whose whole answer the file has shown, and the answer by which it is measured next. */
  let whole: Question | null = null;
  let next: Answered | null = null;

  function isWithin(question: Question | null, ms: number): boolean {
    if (question === null) return false;
    if (clocks.monotonicMs() - question.monotonicMs > ms) return false;
    // A machine that was suspended has a monotonic clock that stood still.
    return Math.abs(clocks.wallMs() - question.wallMs) <= ms;
  }

  function holds(): boolean {
    return isWithin(held, leaseMs) && isWithin(whole, mostBehindMs);
  }

  /** Of the later questions, too: a leader that lacks writes, and answered one of them, may be gone. */
  function noteWhole(shown: Shown): void {
    for (const { question, heard } of next === null ? waiting : [next, ...waiting]) {
      if (isWhole(heard, shown)) whole = laterOf(whole, question);
    }
    if (next !== null && whole !== null && whole.monotonicMs >= next.question.monotonicMs) next = null;
  }

  /** Without a lease the file may lie far back: a node that starts would not know a key that was made last week. */
  function isReached({ heard }: Answered, shown: Shown): boolean {
    return heard.count <= shown.revision() && (holds() || isWhole(heard, shown));
  }

  return {
    begin: () => ({ monotonicMs: clocks.monotonicMs(), wallMs: clocks.wallMs() }),
    answered(question, heard) {
      // One whose time is up gives nothing any more.
      waiting = waiting.filter((one) => question.monotonicMs - one.question.monotonicMs <= leaseMs);
      waiting.push({ question, heard });
      if (next === null || !isWithin(next.question, mostBehindMs)) next = { question, heard };
    },
    isWaiting: () => waiting.length > 0,
    seen(shown) {
      noteWhole(shown);
      const reached = waiting.filter((one) => isReached(one, shown));
      for (const { question } of reached) held = laterOf(held, question);
      waiting = waiting.filter((one) => !reached.includes(one));
    },
    lose() {
      waiting = [];
      held = whole = next = null;
    },
    holds,
  };
}

function laterOf(before: Question | null, question: Question): Question {
  return before !== null && before.monotonicMs >= question.monotonicMs ? before : question;
}

/** Whether a file has all that was written. One that has the last write at another number lacks some before it. */
function isWhole({ lastWrite }: Heard, shown: Shown): boolean {
  return lastWrite === null || shown.numberOf(lastWrite.id) === lastWrite.number;
}
