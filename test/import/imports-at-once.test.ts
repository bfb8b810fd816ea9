/** Several imports into one account at once: what clients that poll may have passed is counted as late. */
import { expect, onTestFinished, spyOn, test } from "bun:test";
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { writeMoment } from "../../src/contract/time.ts";
import { openServedStore } from "../../src/served-store.ts";
import { aPoller } from "../db/a-poller.ts";
import { imported, importing } from "../db/importing.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { anAccount } from "../support/harness.ts";

/** An account, in which a transaction of an import ends after a part or two. */
function anAccountOfSmallTransactions() {
  const path = join(aFolder(), "leadfile.db");
  const admin = openAdminStore(path);
  const served = openServedStore(path);
  let clockMs = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => (clockMs += 1000));
  // Another program that requests the lock all the time.
  const requesting = setInterval(() => {
    if (existsSync(`${path}.asking`)) appendFileSync(`${path}.asking`, ".");
  }, 0);
  onTestFinished(() => {
    clearInterval(requesting);
    clock.mockRestore();
    admin.close();
    served.close();
  });
  const account = anAccount(admin);
  return { admin, account, poller: aPoller(served, account.number) };
}

/** So many leads, one a second, from so many seconds after noon on. */
const leadsFrom = (second: number, count: number) =>
  Array.from({ length: count }, (_, n) =>
    newLead(aLead({ identified_at: writeMoment(noonMs - 86_400_000 + (second + n) * 1000) })),
  );

test("leads that come in behind those which another import has brought meanwhile are late", async () => {
  const { admin, account } = anAccountOfSmallTransactions();
  const slow = importing(admin, account, leadsFrom(0, 3000));
  const { value: first } = await slow.next();
  expect(first).toMatchObject({ counts: { late: 0 } });
  const done = first?.done ?? 0;
  expect(await imported(admin, account, leadsFrom(2500, 1))).toMatchObject({ imported: 1, late: 0 });
  let late = 0;
  for await (const { counts } of slow) late = counts.late;
  // That of second 2,500 is moved behind the one that is there.
  expect(late).toBe(2500 - done);
});

test("leads are not late that another import has brought older ones beside", async () => {
  const { admin, account } = anAccountOfSmallTransactions();
  const slow = importing(admin, account, leadsFrom(0, 3000));
  await slow.next();
  expect(await imported(admin, account, leadsFrom(-10, 10))).toMatchObject({ imported: 10, late: 10 });
  for await (const { counts } of slow) expect(counts.late).toBe(0);
});

test("in whatever turns imports and a client come, it misses no lead that is not counted as late", async () => {
  const { admin, account, poller } = anAccountOfSmallTransactions();
  const pieces = fc.array(fc.record({ second: fc.nat(4000), count: fc.integer({ min: 1, max: 1500 }) }), {
    minLength: 2,
    maxLength: 3,
  });
  let begin = 0;
  await fc.assert(
    fc.asyncProperty(pieces, fc.infiniteStream(fc.nat(3)), async (pieces, turns) => {
      begin += 10_000;
      const late = new Map<number, number>();
      const running = pieces.map(({ second, count }) => importing(admin, account, leadsFrom(begin + second, count)));
      while (running.length > 0) {
        const turn = turns.next().value ?? 0;
        const [one] = running.slice(turn);
        if (one === undefined) poller.poll();
        else {
          const { value, done } = await one.next();
          if (done === true) running.splice(turn, 1);
          else if (value.batch !== null) late.set(value.batch, value.counts.late);
        }
      }
      poller.poll();
      const ids = [...admin.leads.export(account.number)].flat().map((lead): string => JSON.parse(lead).id);
      const unseen = new Set(ids).difference(poller.seen);
      unseen.forEach((id) => void poller.seen.add(id));
      expect(unseen.size).toBeLessThanOrEqual(late.values().reduce((sum, one) => sum + one, 0));
    }),
    { numRuns: 15 },
  );
});
