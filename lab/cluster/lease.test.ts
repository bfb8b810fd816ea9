/** How a server asks for its lease. A stand-in takes the place of its node. */
import { expect, onTestFinished, test } from "bun:test";
import { keepLease, serverQuestion } from "../../src/rqlite/lease/keep-lease.ts";
import { createLease } from "../../src/rqlite/lease/lease.ts";
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

test("a lease that is not given says why, such as a node that is not there", async () => {
  const gone = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  await gone.stop(true);
  const lease = createLease({ monotonicMs: () => performance.now(), wallMs: () => Date.now() });
  const asking = keepLease({ url: gone.url.origin, authorization: null }, serverQuestion("n1"), lease, () => undefined);
  onTestFinished(asking.end);
  await until(() => /^this node has not heard from the majority of its cluster \(.+\)$/.test(asking.refusal()));
  expect(lease.holds()).toBe(false);
});
