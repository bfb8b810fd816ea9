/** Asks the leader and the other nodes with a vote for their last transactions and their clocks. */
import { sql } from "drizzle-orm";
import { disagreementOf } from "../clock.ts";
import { listMembers, type Member, otherVoters, withinDistance } from "../members.ts";
import { handOverLeadership, query, type RqliteNode } from "../node.ts";
import { askPosition } from "../transactions.ts";
import type { Answers } from "./lease.ts";

/** The time limit of a question, to which withinDistance adds the round trips. A longer one would leave little of a lease. */
const timeoutMs = 2_000;
/** With answers from a majority, the others are not waited for any longer: one that is down must not delay each question. */
const graceMs = 400;
/** The interval between reads of the member list. For each one, rqlite connects to every node. */
const listEveryMs = 5_000;
/**
 * A leader that does not answer for this time is relieved, while the leases of all servers still run. The server next to it
 * goes first: if all did it at once, they would also relieve its successor. The round trip does not matter: questions are
 * sent without waiting for the answers to earlier ones.
 */
const relieveAfterMs = { local: 1_000, other: 1_750 };

interface Question {
  readonly level: "strong" | "linearizable";
  /** The time limit, to which withinDistance adds the round trips. */
  readonly withinMs: number;
  /** The process that serves. */
  readonly process?: string;
}

/** Asks the leader, through a node, and all others with a vote at once. Throws if the leader does not answer. */
export async function ask(
  node: RqliteNode,
  members: readonly Member[],
  { level, withinMs, process }: Question,
): Promise<Answers> {
  const others = otherVoters(members, node.name);
  const isVoter = members.some(({ name, isVoter }) => isVoter && name === node.name);
  const voters = others.length + Number(isVoter);
  const limitMs = withinDistance(node, withinMs);
  const asking = others.map((other) => askPosition(other, limitMs));
  const [ofLeader, answered] = await Promise.all([
    // Only the answer of the leader counts for the process: its registration may not have reached the others yet.
    askPosition(node, limitMs, level, process),
    majorityOf(asking, Math.floor(voters / 2) + 1 - Number(isVoter), withinDistance(node, graceMs)),
  ]);
  return {
    voters,
    isVoter,
    isLeader: members.some(({ name, isLeader }) => isLeader && name === node.name),
    isListed: ofLeader.isListed,
    leading: ofLeader.last,
    others: answered,
    // If no other node has answered, the leader has the only other clock.
    clockOffMs: disagreementOf((answered.length > 0 ? answered : [ofLeader]).map(({ clockOffMs }) => clockOffMs)),
  };
}

/** Opens the questions of the process that serves. */
export function openQuestions(node: RqliteNode, process: string) {
  let members: readonly Member[] = [];
  let listedMs = Number.NEGATIVE_INFINITY;
  let leader: Member | undefined;
  let leadsSinceMs = 0;
  let isRelieving = false;

  async function list(): Promise<void> {
    listedMs = performance.now();
    members = await listMembers(node);
    const listed = members.find(({ isLeader }) => isLeader);
    if (listed?.name !== leader?.name) leadsSinceMs = performance.now();
    leader = listed;
  }

  /**
   * Makes another node the leader if the leader is reachable but has not answered for some time. A program that keeps reading
   * the leader's file blocks the checkpoint of the WAL, and the leader applies nothing until that ends.
   */
  async function relieveLeader(unansweredMs: number): Promise<void> {
    await list();
    const patienceMs = leader?.name === node.name ? relieveAfterMs.local : relieveAfterMs.other;
    if (leader === undefined || Math.min(unansweredMs, performance.now() - leadsSinceMs) < patienceMs) return;
    // A leader that is down is replaced without this. A leader that answers this query is not the cause.
    await query(leader, sql`SELECT 1`, "none", withinDistance(node, timeoutMs));
    const answer = query(leader, sql`SELECT 1`, "linearizable", relieveAfterMs.local);
    if ((await answer.catch(() => null)) === null) await handOverLeadership(leader, "of this node");
  }

  return {
    async ask(level: Question["level"]): Promise<Answers> {
      if (members.length === 0) await list();
      // If the list cannot be read again, the previous one is used until the next attempt.
      else if (performance.now() - listedMs > listEveryMs) list().catch(() => {});
      return await ask(node, members, { level, withinMs: timeoutMs, process });
    },
    /** Must be called regularly, with the time since the last answer. */
    async watchLeader(unansweredMs: number): Promise<void> {
      if (unansweredMs < relieveAfterMs.local || isRelieving) return;
      isRelieving = true;
      // The next call tries again after a failure.
      await relieveLeader(unansweredMs).catch(() => {});
      isRelieving = false;
    },
  };
}

/** Returns the answers after the grace; if they are fewer than needed, as soon as there are enough, or when all have ended. */
async function majorityOf<Answer>(
  asking: readonly Promise<Answer>[],
  needed: number,
  withinMs: number,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const enough = Promise.withResolvers<void>();
  const all = asking.map(async (asked) => {
    // A voter that cannot be reached counts as one without an answer.
    await asked.then((answer) => answers.push(answer)).catch(() => {});
    if (answers.length >= needed) enough.resolve();
  });
  if (needed <= 0) enough.resolve();
  await Promise.race([Promise.all(all), Promise.all([enough.promise, Bun.sleep(withinMs)])]);
  return [...answers];
}
