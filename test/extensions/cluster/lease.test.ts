/** The lease of a server, and the file of its node that it reads under the lease. */
import { describe, expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { type Answers, createLease, leaseMs } from "../../../extensions/cluster/lease/lease.ts";
import { keepLease, openLeasedFile, readUnderLease } from "../../../extensions/cluster/lease/leased-file.ts";
import { type NodeFile, openNodeFile } from "../../../extensions/cluster/node-file.ts";
import { revision, tableStatements } from "../../../extensions/cluster/tables.ts";
import type { Position } from "../../../extensions/cluster/transaction.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { until } from "../../support/eventually.ts";
import { aFolder } from "../../support/folder.ts";
import { endWithTest } from "../../support/process.ts";
import { standIn } from "./nodes.ts";

function aLease() {
  const clocks = { monotonicMs: 1_000_000, wallMs: 1_800_000_000_000 };
  const lease = createLease(() => ({ ...clocks }));
  const pass = (ms: number) => {
    clocks.monotonicMs += ms;
    clocks.wallMs += ms;
  };
  /** Asks at this time, and is answered at once. */
  const ask = (given: Answers) => lease.answered(lease.begin(), given);
  return { lease, clocks, pass, ask };
}

const showing = (revisionNow: number, chains: Readonly<Record<string, number>> = {}) => ({
  revision: () => revisionNow,
  chainOf: (id: string) => chains[id],
});

const at = (id: string, chain: number): Position => ({ id, chain, number: chain });

/** The answers of two other nodes, which have the same transactions as this one by default. */
function answers(revisionNow: number, over: Partial<Answers> = {}): Answers {
  const others = [null, null].map(() => ({ last: null, chainAtOwn: null }));
  const same = { isVoter: true, isLeader: false, isListed: true, own: null, lag: 0, clockOffMs: 0 };
  return { revision: revisionNow, voters: 3, others, ...same, ...over };
}

describe("a lease", () => {
  test("begins when the local file shows what the majority answered, and is counted from the question", () => {
    const { lease, pass } = aLease();
    const question = lease.begin();
    pass(400);
    lease.answered(question, answers(7));
    lease.seen(showing(6));
    expect(lease.isValid()).toBe(false);
    pass(600);
    lease.seen(showing(7));
    expect(lease.isValid()).toBe(true);
    pass(leaseMs - 1_000);
    expect(lease.isValid()).toBe(true);
    pass(1);
    expect(lease.isValid()).toBe(false);
  });

  test("does not begin with an answer that took longer than a lease, or with the answer of the leader alone", () => {
    const { lease, pass, ask } = aLease();
    const question = lease.begin();
    pass(leaseMs + 1);
    lease.answered(question, answers(0));
    lease.seen(showing(0));
    expect(lease.isValid()).toBe(false);
    ask(answers(0, { others: [] }));
    lease.seen(showing(0));
    expect(lease.isValid()).toBe(false);
  });

  test.each<[string, (lease: ReturnType<typeof aLease>) => void]>([
    ["another file is at the path", ({ lease }) => lease.end()],
    ["the wall clock is set forward", ({ clocks }) => void (clocks.wallMs += leaseMs + 1)],
    ["the wall clock is set back", ({ clocks }) => void (clocks.wallMs -= leaseMs + 1)],
    ["the clock of the machine is 31 s behind", ({ ask }) => ask(answers(0, { clockOffMs: 31_000 }))],
    ["the clock of the machine is 31 s ahead", ({ ask }) => ask(answers(0, { clockOffMs: -31_000 }))],
  ])("ends when %s", (_, happen) => {
    const all = aLease();
    const { lease, ask } = all;
    ask(answers(0));
    lease.seen(showing(0));
    expect(lease.isValid()).toBe(true);
    happen(all);
    expect(lease.isValid()).toBe(false);
    lease.seen(showing(9));
    expect(lease.isValid()).toBe(false);
  });
});

describe("a lease on a lagging file", () => {
  const one = at("one", 1);
  const two = { last: at("two", 2), chainAtOwn: 1 };

  test("begins when the file shows all writes, and continues while it shows those that must be effective at once", () => {
    const { lease, pass, ask } = aLease();
    ask(answers(7, { others: [one, one].map((last) => ({ last, chainAtOwn: null })) }));
    lease.seen(showing(7));
    expect(lease.isValid()).toBe(false);
    lease.seen(showing(7, { one: 1 }));
    expect(lease.isValid()).toBe(true);
    pass(leaseMs - 1_000);
    ask(answers(7, { own: one, others: [two, two] }));
    lease.seen(showing(7, { one: 1 }));
    pass(leaseMs - 1_000);
    expect(lease.isValid()).toBe(true);
  });

  const different = { last: at("two", 22), chainAtOwn: 11 };
  const always = Number.POSITIVE_INFINITY;
  test.each([
    ["that is complete continues", [two, two], { one: 1, two: 2 }, always],
    ["that stays behind ends after half a minute", [two, two], { one: 1 }, 31],
    ["of another history than a majority ends at once", [different, different], { one: 1 }, 1],
    ["of another history at a later write ends at once", [different, different], { two: 2 }, 1],
    ["of the history of one other node continues", [two, different], { one: 1, two: 2 }, always],
  ])("%s", (_, others, chains: Readonly<Record<string, number>>, seconds) => {
    const { lease, pass, ask } = aLease();
    ask(answers(7));
    lease.seen(showing(7, chains));
    let second = 0;
    for (; lease.isValid() && second < 300; second++) {
      pass(1_000);
      ask(answers(7, { own: one, others }));
      lease.seen(showing(7, chains));
    }
    expect(second).toBe(Math.min(seconds, 300));
  });

  test("waits for the highest revision of any node, which a leader with a full disk may lack", () => {
    const { lease, ask } = aLease();
    ask(answers(8, { own: one, others: [two, two] }));
    lease.seen(showing(7, { one: 1, two: 2 }));
    expect(lease.isValid()).toBe(false);
    lease.seen(showing(8, { one: 1, two: 2 }));
    expect(lease.isValid()).toBe(true);
  });
});

const nothingToSee = { see: () => undefined, lastPosition: () => null };
const clocks = () => ({ monotonicMs: performance.now(), wallMs: Date.now() });

/** A node without others, and the consistency level of each question to it. */
function aNode(isAnswered: (question: number) => boolean = () => true) {
  const levels: (string | null)[] = [];
  const node = standIn((request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/nodes") return Response.json({ nodes: [{ id: "n1", voter: true, leader: true }] });
    levels.push(searchParams.get("level"));
    if (!isAnswered(levels.length)) return new Promise<Response>(() => undefined);
    return Response.json({ results: [{ values: [[JSON.stringify([7, null, null, Date.now(), 1])]] }] });
  });
  return { levels, node };
}

describe("a question for a lease", () => {
  test("after one without an answer goes through the log of the cluster", async () => {
    const { levels, node } = aNode((question) => question !== 3);
    const lease = createLease(clocks);
    const see = () => lease.seen(showing(7));
    onTestFinished(keepLease(node, "p1", lease, { ...nothingToSee, see }));
    await until(() => levels.length >= 6 && levels.includes("linearizable") && lease.isValid());
    expect([levels[0], levels[3]]).toEqual(["strong", "strong"]);
  });

  test("goes through the log if another leader may have written since the last one", async () => {
    // The times of the questions by the monotonic clock and by the clock that can be set.
    const times = [
      [0, 0],
      [500, 500],
      [1_250, 1_250],
      [1_750, 1_750],
      [2_500, 1_750],
      [3_000, 2_250],
      [3_000, 3_000],
    ];
    const { levels, node } = aNode();
    let asked = 0;
    const begin = () => {
      const [monotonicMs = 0, wallMs = 0] = times[asked++] ?? [];
      return { monotonicMs, wallMs };
    };
    onTestFinished(keepLease(node, "p1", { ...createLease(clocks), begin }, nothingToSee));
    await until(() => levels.length >= times.length);
    expect([levels[2], levels[4], levels[6]]).toEqual(["strong", "strong", "strong"]);
  });

  test("without an answer is the reason why there is no lease", async () => {
    const lease = createLease(clocks);
    const node = { ...aNode().node, url: "http://127.0.0.1:1" };
    onTestFinished(keepLease(node, "p1", lease, nothingToSee));
    await until(() => /^this node has no answer from the majority of its cluster \(.+\)$/.test(lease.refusal()));
    expect(lease.isValid()).toBe(false);
  });
});

describe("a file under a lease", () => {
  test("has a new version after a commit that brings the lease while a request checks the file", () => {
    let nowMs = 0;
    const lease = createLease(() => ({ monotonicMs: nowMs, wallMs: nowMs }));
    const { file, due } = aFileThatChanges();
    const { see, version } = readUnderLease(file, lease);
    see();
    lease.answered(lease.begin(), answers(0));
    const cached = version();
    expect(version()).toBe(cached);
    nowMs += leaseMs + 1;
    expect(version).toThrow("this node has not yet caught up");
    lease.answered(lease.begin(), answers(1));
    due.push(1);
    expect(version()).not.toBe(cached);
  });

  test("is opened again if its last transaction cannot be read", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { file } = aFileThatChanges();
    const current = () => ({ ...file.current(), lastPosition: () => expect.unreachable() });
    onTestFinished(openLeasedFile({ ...file, current, release }, aNode().node, "p1").end);
    await released;
  });

  test("that is replaced while it is opened is not served: the other one is", async () => {
    const folder = aFolder();
    const [path, other] = [1, 2].map((count) => aFile(folder, count));
    const child = Bun.spawn([process.execPath, "-e", replacing, path ?? "", other ?? ""], { stdout: "pipe" });
    endWithTest(child);
    await child.stdout.getReader().read();
    const file = openNodeFile(path ?? "");
    onTestFinished(file.release);
    await child.exited;
    await until(() => shownBy(file) !== null);
    await Bun.sleep(2);
    await until(() => shownBy(file) !== null);
    expect(shownBy(file)).toBe(2);
  });
});

/** A file whose revision becomes the one that is `due` right before it is read the next time. */
function aFileThatChanges() {
  const path = join(aFolder(), "db.sqlite");
  const written = openDatabase(path);
  for (const statement of tableStatements) written.run(statement);
  const opened = openNodeFile(path);
  onTestFinished(() => {
    opened.release();
    written.$client.close();
  });
  const due: number[] = [];
  function current() {
    const opening = opened.current();
    const revisionNow = () => {
      for (const count of due.splice(0)) written.insert(revision).values({ number: 1, count }).run();
      return opening.revision();
    };
    return { ...opening, revision: revisionNow };
  }
  const file: NodeFile = { ...opened, current };
  return { file, due };
}

/** Creates a file that shows a revision, and that nobody has open. */
function aFile(folder: string, count: number): string {
  const path = join(folder, `${count}.sqlite`);
  const database = openDatabase(join(folder, `${count}.source`));
  for (const statement of tableStatements) database.run(statement);
  database.insert(revision).values({ number: 1, count }).run();
  database.run(sql`VACUUM INTO ${path}`);
  database.$client.close();
  return path;
}

/** Locks a file, replaces it by another one, and unlocks it. */
const replacing = `
  const { Database } = require("bun:sqlite");
  const [path, other] = process.argv.slice(1);
  const locked = new Database(path);
  locked.run("BEGIN EXCLUSIVE");
  console.log("locked");
  Bun.sleepSync(40);
  require("node:fs").renameSync(other, path);
  locked.close();
`;

/** The revision that a request would see; null while there is none. */
function shownBy(file: NodeFile): number | null {
  try {
    const opening = file.current();
    opening.serving().reader.version();
    return opening.revision();
  } catch {
    file.release();
    return null;
  }
}
