/** How a server asks for its lease, and reads under it. A stand-in takes the place of its node. */
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { keepLease, serverQuestion } from "../../../extensions/cluster/lease/keep-lease.ts";
import { createLease, leaseMs } from "../../../extensions/cluster/lease/lease.ts";
import { readUnderLease } from "../../../extensions/cluster/lease/read-under-lease.ts";
import { openReplica, type Replica } from "../../../extensions/cluster/replica.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { revision } from "../../../src/db/schema.ts";
import { aFolder } from "../../support/folder.ts";
import { until } from "./cluster.ts";

test("a question behind one that got no answer goes through the log of the cluster", async () => {
  const levels: (string | null)[] = [];
  const standIn = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      levels.push(new URL(request.url).searchParams.get("level"));
      if (levels.length === 3) return new Promise<Response>(() => undefined);
      return Response.json({ results: [{ values: [["[7,null]"]] }] });
    },
  });
  const lease = createLease({ monotonicMs: () => performance.now(), wallMs: () => Date.now() });
  const node = { url: standIn.url.origin, authorization: null };
  const asking = keepLease(node, serverQuestion("n1"), lease, () =>
    lease.seen({ revision: () => 7, numberOf: () => undefined }),
  );
  onTestFinished(async () => {
    asking.end();
    await standIn.stop(true);
  });
  await until(() => levels.length >= 6 && levels.includes("linearizable") && lease.holds());
  expect([levels[0], levels[3]]).toEqual(["strong", "strong"]);
});

test("a question goes through the log as well where another leader may have written since the last one", async () => {
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
  const levels: (string | null)[] = [];
  using standIn = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      levels.push(new URL(request.url).searchParams.get("level"));
      return Response.json({ results: [{ values: [["[7,null]"]] }] });
    },
  });
  const lease = createLease({ monotonicMs: () => 0, wallMs: () => 0 });
  let asked = 0;
  const begin = () => {
    const [monotonicMs = 0, wallMs = 0] = moments[asked++] ?? [];
    return { monotonicMs, wallMs };
  };
  const node = { url: standIn.url.origin, authorization: null };
  const asking = keepLease(node, serverQuestion("n1"), { ...lease, begin }, () => undefined);
  onTestFinished(asking.end);
  await until(() => levels.length >= moments.length);
  expect([levels[2], levels[4], levels[6]]).toEqual(["strong", "strong", "strong"]);
});

test("a lease that is not given says why, such as a node that is not there", async () => {
  const gone = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  await gone.stop(true);
  const lease = createLease({ monotonicMs: () => performance.now(), wallMs: () => Date.now() });
  const asking = keepLease({ url: gone.url.origin, authorization: null }, serverQuestion("n1"), lease, () => undefined);
  onTestFinished(asking.end);
  await until(() => /^this node has not heard from the majority of its cluster \(.+\)$/.test(asking.refusal()));
  expect(lease.holds()).toBe(false);
});

/** A file, and a replica of it that is written to right before it shows its revision for the next time. */
function aFileThatMoves() {
  const path = join(aFolder(), "db.sqlite");
  const written = openDatabase(path);
  const replica = openReplica(path);
  onTestFinished(() => {
    replica.close();
    written.$client.close();
  });
  let write: (() => void) | null = null;
  function current() {
    const opening = replica.current();
    const revisionNow = () => {
      write?.();
      write = null;
      return opening.revision();
    };
    return { ...opening, revision: revisionNow };
  }
  const moving: Replica = { ...replica, current };
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
  lease.answered(lease.begin(), { count: 0, lastWrite: null });
  const kept = version();
  expect(version()).toBe(kept);
  nowMs += leaseMs + 1;
  expect(version).toThrow("the lease is over");
  lease.answered(lease.begin(), { count: 1, lastWrite: null });
  raiseNext();
  expect(version()).not.toBe(kept);
});
