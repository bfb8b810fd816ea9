/**
 * Decides for how long this server may serve. A revocation must hold everywhere when its command returns, even if a node is
 * cut off. So a server asks the leader and a majority of the nodes how far they are, and serves for a few seconds after a
 * question whose answers its local file has reached. A command that cannot reach a node waits that long, and knows that the
 * server of the node has stopped serving by then. Only durations are compared, never two clocks.
 */
import { type Clocks, readClocks } from "../clock.ts";
import type { Position, ShownWrites } from "../transaction.ts";

/** For how long a server serves after the question that it has caught up with. */
export const leaseMs = 4_000;
/** A node that lags may serve a state of this age, unless a later write has to hold at once. */
const maxLagMs = 30_000;
/** The margin for an unreachable node, because clocks run at slightly different speeds. */
export const clockMarginMs = 200;
/** A clock that differs more from those of the majority expires keys and subscriptions at the wrong time. */
export const maxClockOffMs = 30_000;

/** The answer of another node with a vote. */
interface VoterAnswer {
  /** Its last transaction; null if it has none. */
  readonly last: Position | null;
  /** Its chain at the last transaction of this node; null if it does not have that one. */
  readonly chainAtOwn: number | null;
}

/** The answers to a question, with what the metrics show of them. */
export interface Answers {
  /** The highest revision of any node, the leader included. */
  readonly revision: number;
  /** The number of nodes with a vote, and whether this node is one. */
  readonly voters: number;
  readonly isVoter: boolean;
  readonly isLeader: boolean;
  /** True if the cluster lists this server as the one of its node. */
  readonly isListed: boolean;
  /** The last transaction of this node when it asked. */
  readonly own: Position | null;
  /** The answers of the other nodes with a vote that are reachable. */
  readonly others: readonly VoterAnswer[];
  /** The number of transactions that the local file lacks. */
  readonly lag: number;
  /** The lag of the local clock behind that of the majority, or of the only other one. */
  readonly clockOffMs: number;
}

/** The state that the local file shows. */
type Shown = Pick<ShownWrites, "revision" | "chainOf">;

export type Lease = ReturnType<typeof createLease>;

const nobody = { voters: 0, isVoter: false, isLeader: false, isListed: false, others: [] };
/** The answers before the first question. */
const noAnswers: Answers = { ...nobody, revision: 0, own: null, lag: 0, clockOffMs: 0 };

/** Creates a lease that has not begun. `now` reads the clocks of the machine. */
export function createLease(now = readClocks) {
  let waiting: { readonly question: Clocks; readonly answers: Answers }[] = [];
  let basis: Clocks | null = null;
  /** The last question whose answers the file contains completely. */
  let complete: Clocks | null = null;
  let last = noAnswers;
  let failure: string | null = null;
  let lacks = false;

  /** Returns true if this server may serve now. */
  const isValid = (at = now()) => isWithin(at, basis, leaseMs) && isWithin(at, complete, maxLagMs);

  /** Ends the lease, as when another file is at the path: what the old one has shown means nothing. */
  function end(): void {
    waiting = [];
    basis = complete = null;
  }

  return {
    /** To be called before the others are asked. */
    begin: now,
    answered(question: Clocks, answers: Answers) {
      last = answers;
      failure = answers.isListed ? null : "the cluster does not list this server";
      if (!answers.isListed || Math.abs(answers.clockOffMs) > maxClockOffMs) return end();
      // The file must contain one within this time.
      waiting = waiting.filter((one) => question.monotonicMs - one.question.monotonicMs <= maxLagMs);
      waiting.push({ question, answers });
    },
    /** To be called if there was no answer, or if the file cannot be read. */
    failed(reason: string) {
      failure = reason;
    },
    /** The last answers. */
    answers: () => last,
    /** The reason why this server may not serve, for the log. */
    refusal: () => refusalOf(lacks, Math.abs(last.clockOffMs), failure),
    /** Must be called when the local file shows a new transaction, and when there are new answers. */
    seen(shown: Shown) {
      const compared = waiting.map((one) => ({ ...one, ...compare(one.answers, shown) }));
      lacks = compared.some(({ isRefuted }) => isRefuted);
      if (lacks) return end();
      for (const { question, isComplete } of compared) if (isComplete) complete = laterOf(complete, question);
      // Without a lease the file may be old: a node that restarts would not know a key that was created last week.
      const reached = compared.filter(({ answers, isConfirmed, isComplete }) => {
        return isConfirmed && answers.revision <= shown.revision() && (isValid() || isComplete);
      });
      for (const { question } of reached) basis = laterOf(basis, question);
      waiting = compared.filter((one) => !(one.isComplete && reached.includes(one)));
    },
    end,
    isValid,
    /** True if the local file lacks writes that a majority has. */
    lacksWrites: () => lacks,
    /** The time since the question on which the lease is based; null if there is none. */
    ageSeconds: () => (basis === null ? null : (now().monotonicMs - basis.monotonicMs) / 1_000),
  };
}

function refusalOf(lacks: boolean, clockOffMs: number, failure: string | null): string {
  if (lacks) return "this node lacks writes that the majority of its cluster has";
  if (clockOffMs > maxClockOffMs) return `the clock of this machine is ${Math.round(clockOffMs / 1_000)} s off`;
  if (failure === null) return "this node has not yet caught up with the majority of its cluster";
  return `this node has no answer from the majority of its cluster (${failure})`;
}

function isWithin(now: Clocks, question: Clocks | null, ms: number): boolean {
  if (question === null || now.monotonicMs - question.monotonicMs > ms) return false;
  return Math.abs(now.wallMs - question.wallMs) <= ms;
}

function laterOf(before: Clocks | null, question: Clocks): Clocks {
  return before !== null && before.monotonicMs >= question.monotonicMs ? before : question;
}

/**
 * Compares a file with what a majority of the nodes has. isConfirmed: a majority has the same transactions, as far as the
 * file has any. isComplete: the file has all that a majority had. isRefuted: too many have other transactions for a majority
 * to have the same.
 */
function compare({ voters, isVoter, own, others }: Answers, shown: Shown) {
  const relations = others.map((other) => relationOf(other, own, shown));
  const count = (relation: Relation) => relations.filter((one) => one === relation).length;
  const itself = isVoter ? 1 : 0;
  const contained = count("contained") + itself;
  return {
    isConfirmed: (contained + count("ahead")) * 2 > voters,
    isComplete: contained * 2 > voters,
    isRefuted: count("different") > 0 && count("different") * 2 >= voters,
  };
}

/** The state of another node: contained in the local file, ahead of it, different from it, or not comparable. */
type Relation = "contained" | "ahead" | "different" | "unknown";

function relationOf({ last, chainAtOwn }: VoterAnswer, own: Position | null, shown: Shown): Relation {
  if (last === null) return own === null ? "contained" : "unknown";
  const chain = shown.chainOf(last.id);
  if (chain !== undefined) return chain === last.chain ? "contained" : "different";
  if (own === null || chainAtOwn === null) return "unknown";
  return chainAtOwn === own.chain ? "ahead" : "different";
}
