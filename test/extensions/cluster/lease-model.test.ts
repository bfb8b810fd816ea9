/** A model of a cluster: a revocation that has returned holds on every server that has a lease, whatever happens to the nodes. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { clockMarginMs, createLease, leaseMs } from "../../../extensions/cluster/lease/lease.ts";
import type { Position } from "../../../extensions/cluster/transactions.ts";

/** A node with its server. */
interface ModelNode {
  /** The number of committed transactions that the node has applied, or has failed to apply. */
  applied: number;
  /** The transactions that the node could not write because its disk was full. */
  readonly lacks: Set<number>;
  isFull: boolean;
  isCutOff: boolean;
  /** The answers that have not reached the node yet. */
  readonly answers: (() => void)[];
  readonly lease: ReturnType<typeof createLease>;
}

/** The nodes, one of which is the leader, and a revocation through one of them. */
class Model {
  private nowMs = 0;
  private committed = 0;
  private leader = 0;
  private readonly nodes: readonly ModelNode[];
  private revocation: { readonly number: number; readonly shownBy: Set<ModelNode>; knownMs: number | null } | null =
    null;

  constructor(count: number) {
    const clock = () => ({ monotonicMs: this.nowMs, wallMs: this.nowMs });
    this.nodes = Array.from({ length: count }, () => {
      return { applied: 0, lacks: new Set(), isFull: false, isCutOff: false, answers: [], lease: createLease(clock) };
    });
  }

  run([event, place, number]: Event): void {
    const node = this.nodeAt(place);
    if (event === "pass") this.nowMs += 10 + number * 7;
    else if (event === "write" && this.canCommit()) this.committed++;
    else if (event === "revoke" && this.canCommit()) this.revoke();
    else if (event === "apply" && !node.isCutOff) this.apply(node, node.applied + 1 + (number % 3));
    else if (event === "ask") this.ask(node, number);
    else if (event === "answer") node.answers.shift()?.();
    else if (event === "cut") node.isCutOff = !node.isCutOff;
    else if (event === "fill") node.isFull = !node.isFull;
    else if (event === "restart") this.restart(node, number);
    else if (event === "lead" && !node.isCutOff) this.leader = place % this.nodes.length;
    this.look();
  }

  private nodeAt(place: number): ModelNode {
    return this.nodes[place % this.nodes.length] ?? expect.unreachable();
  }

  private canCommit(): boolean {
    const reachable = this.nodes.filter(({ isCutOff }) => !isCutOff);
    return reachable.length * 2 > this.nodes.length && !this.nodeAt(this.leader).isCutOff;
  }

  private revoke(): void {
    this.revocation ??= { number: this.committed++, shownBy: new Set(), knownMs: null };
  }

  private apply(node: ModelNode, upTo: number): void {
    for (; node.applied < Math.min(upTo, this.committed); node.applied++) {
      if (node.isFull) node.lacks.add(node.applied);
    }
  }

  /** Some other nodes do not answer in time. */
  private ask(node: ModelNode, number: number): void {
    if (node.isCutOff || !this.canCommit()) return;
    const leader = this.nodeAt(this.leader);
    this.apply(leader, this.committed);
    const question = node.lease.begin();
    const others = this.nodes.filter((one, place) => one !== node && !one.isCutOff && ((number >> place) & 1) === 1);
    const lasts = others.map((one) => ({ last: this.shownBy(one).lastPosition() }));
    const leading = this.shownBy(leader).lastPosition();
    const same = { isVoter: true, isLeader: node === leader, isListed: true, clockOffMs: 0 };
    const answers = { ...same, voters: this.nodes.length, leading, others: lasts };
    node.answers.push(() => node.lease.answered(question, answers));
  }

  /** Restarts a node with an older file. */
  private restart(node: ModelNode, number: number): void {
    node.applied = Math.min(node.applied, number % (node.applied + 1));
    node.lease.end();
  }

  private has(node: ModelNode, number: number): boolean {
    return number < node.applied && !node.lacks.has(number);
  }

  private shownBy(node: ModelNode) {
    const positions: Position[] = [];
    for (let number = 0; number < node.applied; number++) {
      const chain = (positions.at(-1)?.chain ?? 0) * 31 + number + 1;
      if (!node.lacks.has(number))
        positions.push({ id: `t${number}`, chain: chain % 1_000_003, number: positions.length + 1 });
    }
    return {
      chainOf: (id: string) => positions.find((one) => one.id === id)?.chain,
      lastPosition: () => positions.at(-1) ?? null,
    };
  }

  /** The command asks the nodes that it reaches through the first one, and each server reads its file. */
  private look(): void {
    for (const node of this.nodes) node.lease.seen(this.shownBy(node));
    if (this.revocation === null) return;
    const { number, shownBy } = this.revocation;
    const [first] = this.nodes;
    const reached = this.nodes.filter((node) => node === first || !(node.isCutOff || first?.isCutOff));
    for (const node of reached) if (this.has(node, number)) shownBy.add(node);
    if (shownBy.size * 2 > this.nodes.length) this.revocation.knownMs ??= this.nowMs;
    const { knownMs } = this.revocation;
    const hasReturned =
      shownBy.size === this.nodes.length || (knownMs !== null && this.nowMs > knownMs + leaseMs + clockMarginMs);
    if (!hasReturned) return;
    for (const node of this.nodes) if (node.lease.isValid()) expect(this.has(node, number)).toBe(true);
  }
}

const common = ["pass", "write", "revoke", "apply", "ask", "ask", "answer", "answer", "cut", "lead"] as const;
type Event = readonly [event: (typeof common)[number] | "fill" | "restart", place: number, number: number];

const eventsWith = (fault: "fill" | "restart") =>
  fc.array(fc.tuple(fc.constantFrom(...common, fault), fc.nat(4), fc.nat(255)), { minLength: 20, maxLength: 80 });

/** A case that the model found: a late answer to a question from before a restart. */
const examplesOf = (fault: "fill" | "restart"): [number, Event[]][] => {
  const asked: Event[] = [
    ["ask", 1, 0],
    ["ask", 1, 1],
    ["answer", 1, 0],
    ["revoke", 0, 0],
  ];
  const shown: Event[] = [0, 1, 2].map((place) => ["apply", place, 0]);
  return fault === "fill" ? [] : [[3, [...asked, ...shown, ["restart", 1, 0], ["answer", 1, 0], ["pass", 0, 0]]]];
};

// A leader that lacks the write, together with a node that restarts with a file from before the write, are two different
// faults.
test.each(["fill", "restart"] as const)(
  "a revocation that has returned holds everywhere, with the fault %s",
  (fault) => {
    const holds = fc.property(fc.constantFrom(3, 5), eventsWith(fault), (count, events) => {
      const model = new Model(count);
      for (const event of events) model.run(event);
    });
    fc.assert(holds, { numRuns: 2_000, examples: examplesOf(fault) });
  },
);
