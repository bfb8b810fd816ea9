/** The questions to the leader and to the other nodes with a vote, on whose answers the lease is based. */
import { sql } from "drizzle-orm";
import { disagreementOf } from "../clock.ts";
import { type Member, openMembers, withinDistance } from "../members.ts";
import { handOverLeadership, query, type RqliteNode } from "../node.ts";
import { askPosition, type Position } from "../transaction.ts";
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

/** Opens the list of the members, which is refreshed while it is used. */
function watchMembers(node: RqliteNode) {
  const list = openMembers(node);
  let members: readonly Member[] = [];
  let listedMs = Number.NEGATIVE_INFINITY;
  let leader: Member | undefined;
  let leaderSinceMs = 0;

  async function refresh(): Promise<void> {
    listedMs = performance.now();
    members = await list();
    const listed = members.find(({ isLeader }) => isLeader);
    if (listed?.name !== leader?.name) leaderSinceMs = performance.now();
    leader = listed;
  }

  return {
    refresh,
    async voters(): Promise<readonly Member[]> {
      if (members.length === 0) await refresh();
      // If the refresh fails, the previous list is used until the next attempt.
      else if (performance.now() - listedMs > listEveryMs) refresh().catch(() => {});
      return members.filter(({ isVoter }) => isVoter);
    },
    /** The leader, and for how long it is known to be the leader. */
    leader: () => ({ leader, leadsMs: performance.now() - leaderSinceMs }),
  };
}

/** Opens the questions, on behalf of the process that serves. */
export function openQuestions(node: RqliteNode, process: string) {
  const members = watchMembers(node);
  let isRelieving = false;

  return {
    /** Asks all at once. Throws if the leader does not answer. */
    async ask(own: Position | null, level: "strong" | "linearizable"): Promise<Answers> {
      const voters = await members.voters();
      const limitMs = withinDistance(node, timeoutMs);
      const isVoter = voters.some((voter) => voter.name === node.name);
      const asking = voters.filter(({ name }) => name !== node.name).map((voter) => askPosition(voter, own, limitMs));
      const [ofLeader, others] = await Promise.all([
        // Only the answer of the leader counts for this process: its registration may not have reached the others yet.
        askPosition(node, own, limitMs, level, process),
        majorityOf(asking, Math.floor(voters.length / 2) + 1 - Number(isVoter), withinDistance(node, graceMs)),
      ]);
      const all = [ofLeader, ...others];
      return {
        revision: Math.max(...all.map((state) => state.revision)),
        voters: voters.length,
        isVoter,
        isListed: ofLeader.isListed,
        own,
        others,
        clockOffMs: disagreementOf(others.map((state) => state.clockOffMs)),
        isLeader: members.leader().leader?.name === node.name,
        lag: Math.max(0, Math.max(...all.map(({ last }) => last?.number ?? 0)) - (own?.number ?? 0)),
      };
    },
    /**
     * Makes another node the leader if the leader is reachable but has answered nothing for some time. A program that reads its
     * file blocks the checkpoint of its WAL, and until then the leader applies nothing.
     */
    async relieveLeader(unansweredMs: number): Promise<void> {
      if (unansweredMs < relieveAfterMs.local || isRelieving) return;
      isRelieving = true;
      try {
        await members.refresh();
        const { leader, leadsMs } = members.leader();
        const patienceMs = leader?.name === node.name ? relieveAfterMs.local : relieveAfterMs.other;
        if (leader === undefined || Math.min(unansweredMs, leadsMs) < patienceMs) return;
        // A leader that is down is replaced without this, and one that answers here is not the reason of the silence.
        await query(leader, sql`SELECT 1`, "none", withinDistance(node, timeoutMs));
        const answer = query(leader, sql`SELECT 1`, "linearizable", relieveAfterMs.local);
        if (await answer.catch(() => null)) return;
        await handOverLeadership(leader, "of this node");
      } catch {
        // It is tried again.
      } finally {
        isRelieving = false;
      }
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
  const ended = Promise.all(all);
  await Promise.race([ended, Promise.all([enough.promise, Bun.sleep(withinMs)])]);
  return [...answers];
}
