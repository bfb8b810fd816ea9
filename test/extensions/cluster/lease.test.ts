/** How a server asks for its lease, and reads under it. A stand-in takes the place of its node. */
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { keepLease } from "../../../extensions/cluster/lease/keep-lease.ts";
import { createLease, type Heard, leaseMs } from "../../../extensions/cluster/lease/lease.ts";
import { readUnderLease } from "../../../extensions/cluster/lease/leased-file.ts";
import { type NodeFile, openNodeFile } from "../../../extensions/cluster/node-file.ts";
import { revision, tableStatements } from "../../../extensions/cluster/tables.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { aFolder } from "../../support/folder.ts";
import { until } from "./cluster.ts";

const holder = { name: "n1", process: "p1" };
const nothingToSee = { see: () => undefined, lastPosition: () => null };
const clocks = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/** A node that is alone in its cluster, whose level of each question is recorded. */
function aNode(isAnswered: (question: number) => boolean = () => true) {
  const levels: (string | null)[] = [];
  const standIn = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/nodes") return Response.json({ nodes: [{ id: "n1", voter: true, leader: true }] });
      levels.push(searchParams.get("level"));
      if (!isAnswered(levels.length)) return new Promise<Response>(() => undefined);
      return Response.json({ results: [{ values: [[JSON.stringify([7, null, null, Date.now()])]] }] });
    },
  });
  onTestFinished(() => standIn.stop(true));
  return { levels, node: { url: standIn.url.origin, authorization: null } };
}

test("a question after one without an answer goes through the log of the cluster", async () => {
  const { levels, node } = aNode((question) => question !== 3);
  const lease = createLease(clocks);
  const see = () => lease.seen({ revision: () => 7, chainOf: () => undefined });
  onTestFinished(keepLease(node, holder, lease, { ...nothingToSee, see }).end);
  await until(() => levels.length >= 6 && levels.includes("linearizable") && lease.holds());
  expect([levels[0], levels[3]]).toEqual(["strong", "strong"]);
});

test("a question goes through the log as well if another leader may have written since the last one", async () => {
  // When each question is asked, by the monotonic clock and by the one that may be set.
  const moments = [
    [0, 0],
    [500, 500],
    [1_250, 1_250],
    [1_750, 1_750],
    [2_500, 1_750],
    [3_000, 2_250],
    [3_000, 3_000],
  ];
  const { levels, node } = aNode();
  const lease = createLease({ monotonicMs: () => 0, wallMs: () => 0 });
  let asked = 0;
  const begin = () => {
    const [monotonicMs = 0, wallMs = 0] = moments[asked++] ?? [];
    return { monotonicMs, wallMs };
  };
  onTestFinished(keepLease(node, holder, { ...lease, begin }, nothingToSee).end);
  await until(() => levels.length >= moments.length);
  expect([levels[2], levels[4], levels[6]]).toEqual(["strong", "strong", "strong"]);
});

test("a lease that cannot begin gives the reason, such as a node that does not answer", async () => {
  const gone = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  await gone.stop(true);
  const lease = createLease(clocks);
  const asking = keepLease({ url: gone.url.origin, authorization: null }, holder, lease, nothingToSee);
  onTestFinished(asking.end);
  await until(() => /^this node has no answer from the majority of its cluster \(.+\)$/.test(asking.refusal()));
  expect(lease.holds()).toBe(false);
});

const alone = (count: number): Heard => {
  return { revision: count, voters: 1, isVoter: true, own: null, others: [], clockOffMs: 0 };
};

/** A file that is written to right before it shows its revision for the next time. */
function aFileThatMoves() {
  const path = join(aFolder(), "db.sqlite");
  const written = openDatabase(path);
  for (const statement of tableStatements) written.run(statement);
  const file = openNodeFile(path);
  onTestFinished(() => {
    file.release();
    written.$client.close();
  });
  let write: (() => void) | null = null;
  function current() {
    const opening = file.current();
    const revisionNow = () => {
      write?.();
      write = null;
      return opening.revision();
    };
    return { ...opening, revision: revisionNow };
  }
  const moving: NodeFile = { ...file, current };
  const raiseNext = () => {
    write = () => written.insert(revision).values({ number: 1, count: 1 }).run();
  };
  return { moving, raiseNext };
}

test("a lease that a commit brings while a request looks at the file covers nothing that was kept before the commit", () => {
  let nowMs = 0;
  const lease = createLease({ monotonicMs: () => nowMs, wallMs: () => nowMs });
  const { moving, raiseNext } = aFileThatMoves();
  const { see, version } = readUnderLease(moving, lease, () => "the lease is over");
  see();
  lease.answered(lease.begin(), alone(0));
  const kept = version();
  expect(version()).toBe(kept);
  nowMs += leaseMs + 1;
  expect(version).toThrow("the lease is over");
  lease.answered(lease.begin(), alone(1));
  raiseNext();
  expect(version()).not.toBe(kept);
});
