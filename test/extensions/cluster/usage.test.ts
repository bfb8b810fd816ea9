/** What /usage says on a cluster while counts are on their way. A stand-in takes the place of the node. */
import { expect, test } from "bun:test";
import { createFlush } from "../../../extensions/cluster/usage-flush.ts";
import { createUsageCounter } from "../../../src/db/usage-counter.ts";
import { noonMs } from "../../support/builders.ts";
import { until } from "./cluster.ts";

test("a request is counted once where the file begins to show it in the middle of a look at it", async () => {
  let isTaken = false;
  using standIn = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      isTaken = true;
      return Response.json({ results: [{}] });
    },
  });
  let shown = 0;
  const counted = createUsageCounter({
    between() {
      // Between the question for the part and this one the node has written it.
      if (isTaken) shown = 1;
      return shown === 0 ? [] : [{ day: "2026-02-01", requests: 3 }];
    },
  });
  const noPages = { next: () => null, drop: () => false };
  const node = { url: standIn.url.origin, authorization: null };
  const usage = createFlush(node, { name: "n1", process: "one" }, { usage: counted, ledger: noPages }, () => shown);
  for (let request = 0; request < 3; request++) counted.count(1, noonMs);
  usage.begin();
  await until(() => isTaken);
  expect(usage.of(1, noonMs)).toEqual({ today: 3, month: 3 });
});
