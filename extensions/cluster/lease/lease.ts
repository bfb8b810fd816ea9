/**
 * Decides for how long this server may serve. A revocation must hold everywhere when its command returns, even if a node is
 * cut off. So a server asks the leader and a majority of the nodes for their last transactions, and serves for a few seconds
 * after a question if its local file contains them. A command that cannot reach a node waits that long, and knows that the
 * server of the node has stopped serving by then. Only durations are compared, never two clocks.
 */
import { type Clocks, readClocks, timeBetween } from "../clock.ts";
import type { Position, ShownWrites } from "../transactions.ts";

/** For how long a server serves after the question that it has caught up with. */
export const leaseMs = 4_000;
/** The margin for an unreachable node, because clocks run at slightly different speeds. */
export const clockMarginMs = 200;
/** A clock that differs more from those of the majority expires keys and subscriptions at the wrong time. */
export const maxClockOffMs = 30_000;

/** The answers to a question, with what the metrics show of them. */
export interface Answers {
  /** The number of nodes with a vote, and whether this node is one. */
  readonly voters: number;
  readonly isVoter: boolean;
  readonly isLeader: boolean;
  /** True if the cluster lists this server as the one of its node. */
  readonly isListed: boolean;
  /** The last transaction of the leader; null if there is none. */
  readonly leading: Position | null;
  /** The last transactions of the other nodes with a vote that are reachable. */
  readonly others: readonly { readonly last: Position | null }[];
  /** The lag of the local clock behind that of the majority, or of the only other one. */
  readonly clockOffMs: number;
}

/** The state that the local file shows. */
type Shown = Pick<ShownWrites, "chainOf" | "lastPosition">;

export type Lease = ReturnType<typeof createLease>;

/** The answers before the first question. */
const nobody = { voters: 0, isVoter: false, isLeader: false, isListed: false, leading: null, others: [] };

/** The time of a question, and the number of times that the lease was ended before. */
export interface Question extends Clocks {
  readonly era: number;
}

/** Creates a lease that has not begun. `now` reads the clocks of the machine. */
export function createLease(now = readClocks) {
  let waiting: { readonly question: Question; readonly answers: Answers }[] = [];
  /** The last question whose answers the file contains. */
  let basis: Question | null = null;
  let last: Answers = { ...nobody, clockOffMs: 0 };
  let failure: string | null = null;
  let [era, lag, lacks] = [0, 0, false];

  /** Returns true if an answer to a question still gives a lease. */
  const isRecent = (question: Question | null) => question !== null && timeBetween(question, now()) <= leaseMs;

  /** Ends the lease, for example when the file was replaced: earlier answers say nothing about the new file. */
  function end(): void {
    era++;
    waiting = [];
    basis = null;
  }

  return {
    /** To be called before the others are asked. */
    begin: (): Question => ({ ...now(), era }),
    answered(question: Question, answers: Answers) {
      last = answers;
      failure = answers.isListed ? null : "the cluster does not list this server";
      if (!answers.isListed || !isTimeKnown(answers)) end();
      else if (question.era === era) waiting.push({ question, answers });
    },
    /** To be called if there was no answer, or if the file cannot be read. */
    failed(reason: string) {
      failure = reason;
    },
    answers: () => last,
    /** The reason why this server may not serve, for the log. */
    refusal: () => refusalOf(lacks, Math.abs(last.clockOffMs), failure),
    /** Must be called when the local file shows a new transaction, and when there are new answers. */
    seen(shown: Shown) {
      const recent = waiting.filter(({ question }) => isRecent(question));
      const compared = recent.map((one) => ({ ...one, ...compare(one.answers, shown) }));
      lag = lagOf(last, shown);
      lacks = compared.some(({ isRefuted }) => isRefuted);
      if (lacks) return end();
      // Answers may arrive in another order.
      for (const { question, isReached } of compared) {
        if (isReached && question.monotonicMs > (basis?.monotonicMs ?? -1)) basis = question;
      }
      waiting = compared.filter(({ isReached }) => !isReached);
    },
    end,
    /** Returns true if this server may serve now. */
    isValid: () => isRecent(basis),
    /** True if the local file lacks writes that a majority has. */
    lacksWrites: () => lacks,
    /** The number of transactions that the local file lacked when it was last compared. */
    lag: () => lag,
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

/** Returns true if the clock of this machine was compared, and is not wrong. */
export function isTimeKnown({ voters, clockOffMs }: Answers): boolean {
  return voters > 0 && Math.abs(clockOffMs) <= maxClockOffMs;
}

function lagOf({ leading, others }: Answers, shown: Shown): number {
  const numbers = [leading, ...others.map(({ last }) => last)].map((last) => last?.number ?? 0);
  return Math.max(0, Math.max(...numbers) - (shown.lastPosition()?.number ?? 0));
}

/**
 * Compares a file with the answers. isReached: the file contains the last transactions of the leader and of each other node
 * that answered, and a majority has the same history. A command returns when a majority shows its write, and every other
 * majority has a node of that one. isRefuted: so many nodes have another history that no majority can have that of the file.
 */
function compare({ voters, isVoter, leading, others }: Answers, shown: Shown) {
  const relations = others.map(({ last }) => relationOf(last, shown));
  const count = (relation: Relation) => relations.filter((one) => one === relation).length;
  const isComplete = relationOf(leading, shown) !== "ahead" && count("ahead") === 0;
  return {
    isReached: isComplete && (count("contained") + Number(isVoter)) * 2 > voters,
    isRefuted: count("different") > 0 && count("different") * 2 >= voters,
  };
}

/**
 * The relation of another node's last transaction to the local file: contained in it, ahead of it, of another history, or no
 * longer remembered.
 */
type Relation = "contained" | "ahead" | "different" | "forgotten";

function relationOf(last: Position | null, shown: Shown): Relation {
  const own = shown.lastPosition();
  if (last === null) return own === null ? "contained" : "forgotten";
  const chain = shown.chainOf(last.id);
  if (chain !== undefined) return chain === last.chain ? "contained" : "different";
  return last.number > (own?.number ?? 0) ? "ahead" : "forgotten";
}
