/** The lease of a server, and the file of its node that it reads under the lease. */
import { describe, expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { type Answers, createLease, leaseMs } from "../../../extensions/cluster/lease/lease.ts";
import { keepLease, openLeasedFile, readUnderLease } from "../../../extensions/cluster/lease/leased-file.ts";
import { type NodeFile, openNodeFile } from "../../../extensions/cluster/node-file.ts";
import { type Position, tableStatements } from "../../../extensions/cluster/transactions.ts";
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

const at = (id: string, number: number, chain = number): Position => ({ id, chain, number });

/** A file that shows some transactions, the newest last. */
const showing = (...shown: readonly Position[]) => ({
  chainOf: (id: string) => shown.find((one) => one.id === id)?.chain,
  lastPosition: () => shown.at(-1) ?? null,
});

/** The answers of the leader and of two other nodes, all with the same transaction by default. */
function answers(leading: Position | null, over: Partial<Answers> = {}): Answers {
  const others = [leading, leading].map((last) => ({ last }));
  const same = { isVoter: true, isLeader: false, isListed: true, clockOffMs: 0 };
  return { leading, voters: 3, others, ...same, ...over };
}

const [zero, one, two] = [at("zero", 1), at("one", 2), at("two", 3)];

describe("a lease", () => {
  test("begins when the local file shows what the majority answered, and is counted from the question", () => {
    const { lease, pass } = aLease();
    const question = lease.begin();
    pass(400);
    lease.answered(question, answers(one));
    lease.seen(showing(zero));
    expect(lease.isValid()).toBe(false);
    pass(600);
    lease.seen(showing(zero, one));
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
    lease.answered(question, answers(zero));
    lease.seen(showing(zero));
    expect(lease.isValid()).toBe(false);
    ask(answers(zero, { others: [] }));
    lease.seen(showing(zero));
    expect(lease.isValid()).toBe(false);
  });

  test.each<[string, (lease: ReturnType<typeof aLease>) => void]>([
    ["another file is at the path", ({ lease }) => lease.end()],
    ["the wall clock is set forward", ({ clocks }) => void (clocks.wallMs += leaseMs + 1)],
    ["the wall clock is set back", ({ clocks }) => void (clocks.wallMs -= leaseMs + 1)],
    ["the clock of the machine is 31 s behind", ({ ask }) => ask(answers(zero, { clockOffMs: 31_000 }))],
    ["the clock of the machine is 31 s ahead", ({ ask }) => ask(answers(zero, { clockOffMs: -31_000 }))],
  ])("ends when %s", (_, happen) => {
    const all = aLease();
    const { lease, ask } = all;
    ask(answers(zero));
    lease.seen(showing(zero));
    expect(lease.isValid()).toBe(true);
    happen(all);
    expect(lease.isValid()).toBe(false);
    lease.seen(showing(zero, one));
    expect(lease.isValid()).toBe(false);
  });
});

describe("a lease on a file", () => {
  const other = at("two", 3, 33);
  const [always, lease] = [Number.POSITIVE_INFINITY, Math.ceil((leaseMs + 1) / 1_000)];
  test.each([
    ["that contains all answers continues", two, [two, two], always],
    ["continues, although another node is behind", one, [zero, one], always],
    ["that lacks what one node has ends with the last question before", one, [one, two], lease],
    ["that lacks what the leader has ends with the last question before", two, [one, one], lease],
    [
      "that lacks what a majority has ends with the last question before, although the leader lacks it",
      one,
      [two, two],
      lease,
    ],
    ["of another history than a majority ends at once", two, [other, other], 1],
    ["of another history than one other node continues", two, [two, other], always],
    [
      "continues, although a node that was away for long has only forgotten transactions",
      one,
      [one, at("old", 1)],
      always,
    ],
  ])("%s", (name, leading, lasts, seconds) => {
    const { lease, pass, ask } = aLease();
    const file =
      name.includes("lacks") || name.includes("behind") || name.includes("away") ? [zero, one] : [zero, one, two];
    ask(answers(one));
    lease.seen(showing(...file));
    let second = 0;
    for (; lease.isValid() && second < 300; second++) {
      pass(1_000);
      ask(answers(leading, { others: lasts.map((last) => ({ last })) }));
      lease.seen(showing(...file));
    }
    expect(second).toBe(Math.min(seconds, 300));
  });
});

const nothingToSee = () => undefined;
const clocks = () => ({ monotonicMs: performance.now(), wallMs: Date.now() });

/** A node without others, and the consistency level of each question to it. */
function aNode(isAnswered: (question: number) => boolean = () => true) {
  const levels: (string | null)[] = [];
  const node = standIn((request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/nodes") return Response.json({ nodes: [{ id: "n1", voter: true, leader: true }] });
    levels.push(searchParams.get("level"));
    if (!isAnswered(levels.length)) return new Promise<Response>(() => undefined);
    return Response.json({ results: [{ values: [[JSON.stringify([null, null, Date.now(), 1])]] }] });
  });
  return { levels, node };
}

describe("a question for a lease", () => {
  test("after one without an answer goes through the log of the cluster", async () => {
    const { levels, node } = aNode((question) => question !== 3);
    const lease = createLease(clocks);
    onTestFinished(keepLease(node, "p1", lease, () => lease.seen(showing())));
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
      return { monotonicMs, wallMs, era: 0 };
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
    lease.answered(lease.begin(), answers(null));
    const cached = version();
    expect(version()).toBe(cached);
    nowMs += leaseMs + 1;
    expect(version).toThrow("this node has not yet caught up");
    lease.answered(lease.begin(), answers(zero));
    due.push(zero);
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

/** A file that gets the transactions that are `due` right before its last one is read the next time. */
function aFileThatChanges() {
  const path = join(aFolder(), "db.sqlite");
  const written = openDatabase(path);
  for (const statement of tableStatements) written.run(statement);
  const opened = openNodeFile(path);
  onTestFinished(() => {
    opened.release();
    written.$client.close();
  });
  const due: Position[] = [];
  function current() {
    const opening = opened.current();
    const lastPosition = () => {
      for (const { id, chain, number } of due.splice(0)) {
        written.run(sql`INSERT INTO cluster_writes (number, id, chain) VALUES (${number}, ${id}, ${chain})`);
      }
      return opening.lastPosition();
    };
    return { ...opening, lastPosition };
  }
  const file: NodeFile = { ...opened, current };
  return { file, due };
}

/** Creates a file that shows a revision, and that nobody has open. */
function aFile(folder: string, count: number): string {
  const path = join(folder, `${count}.sqlite`);
  const database = openDatabase(join(folder, `${count}.source`));
  for (const statement of tableStatements) database.run(statement);
  database.run(sql`INSERT INTO cluster_revision VALUES (1, ${count})`);
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
