/** In any order of a file, with any ties, and if it is interrupted anywhere, a client that polls misses no lead. */
import { expect, onTestFinished, spyOn, test } from "bun:test";
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { formatTime } from "../../src/contract/time.ts";
import type { ImportOptions, NewLead } from "../../src/import/new-lead.ts";
import { openServedStore } from "../../src/served-store.ts";
import { aPoller } from "../db/a-poller.ts";
import { imported, importing } from "../db/importing.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { anAccount } from "../support/harness.ts";

const options: ImportOptions = { onDuplicate: "skip", createPixels: true, dryRun: false };

function openBoth() {
  const path = join(aFolder(), "leadfile.db");
  const admin = openAdminStore(path);
  const served = openServedStore(path);
  // Whenever the clock is looked at, a second is over: a transaction ends after a part or two.
  let clockMs = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => (clockMs += 1000));
  onTestFinished(() => {
    clock.mockRestore();
    admin.close();
    served.close();
  });
  return { path, admin, served };
}

/** Ends an import after so many transactions. */
async function cutShort(merge: AsyncGenerator<unknown>, transactions: number, afterEach: () => void): Promise<void> {
  let left = transactions;
  for await (const _ of merge) {
    afterEach();
    if (--left === 0) return;
  }
}

const aFile = fc.record({
  rows: fc.integer({ min: 0, max: 1800 }),
  /** Within so many milliseconds: few make many ties. */
  withinMs: fc.constantFrom(1, 50, 3000, 3_000_000),
  order: fc.constantFrom("newest first", "oldest first", "shuffled"),
  untimed: fc.constantFrom(0, 0, 0.1),
  repeated: fc.constantFrom(0, 0, 0.2),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
});

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function leadsOf({
  rows,
  withinMs,
  order,
  untimed,
  repeated,
  seed,
}: typeof aFile extends fc.Arbitrary<infer F> ? F : never) {
  const random = randomOf(seed);
  const leads: NewLead[] = [];
  for (let row = 0; row < rows; row++) {
    const identifiedMs = noonMs - 3_600_000 + Math.floor(random() * withinMs);
    const known = random() < repeated ? leads[Math.floor(random() * leads.length)]?.id : undefined;
    const over = { identified_at: formatTime(identifiedMs), name: `Row ${row}` };
    const lead = newLead(aLead({ ...(known === undefined ? {} : { id: known }), ...over }));
    leads.push(random() < untimed ? { ...lead, identifiedMs: null } : lead);
  }
  if (order === "shuffled") return leads;
  const sign = order === "oldest first" ? 1 : -1;
  return leads.toSorted((a, b) => sign * ((a.identifiedMs ?? 0) - (b.identifiedMs ?? 0)));
}

test("two polling clients receive every lead of an import in any order, with any ties, interrupted anywhere", async () => {
  const { admin, served } = openBoth();
  const cuts = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(aFile, fc.integer({ min: 0, max: 40 }), cuts, async (file, older, cuts) => {
      const account = anAccount(admin);
      const before = Array.from({ length: older }, (_, n) =>
        newLead(aLead({ identified_at: formatTime(noonMs - 7_200_000 + n) })),
      );
      admin.leads.beginImport(account.number, options).write(before, noonMs);
      const leads = leadsOf(file);
      const pollers = [aPoller(served, account.number), aPoller(served, account.number)];
      for (const { poll } of pollers) poll();
      let turn = 0;
      // The one polls after every transaction, the other after every second.
      const pollSome = () => {
        pollers[0]?.poll();
        if (turn++ % 2 === 0) pollers[1]?.poll();
      };
      for (const transactions of [...cuts, Number.POSITIVE_INFINITY]) {
        await cutShort(importing(admin, account, leads, { options }), transactions, pollSome);
      }
      for (const { poll } of pollers) poll();
      const exported = [...admin.leads.export(account.number)].flat();
      // As if each had been written alone, in the order of time and, within it, of the file.
      const alone = anAccount(admin);
      const { write } = admin.leads.beginImport(alone.number, options);
      write(before, noonMs);
      const timeOf = ({ identifiedMs }: NewLead) => identifiedMs ?? Number.MAX_SAFE_INTEGER;
      write(
        leads.toSorted((a, b) => timeOf(a) - timeOf(b)),
        noonMs,
      );
      expect(exported).toEqual([...admin.leads.export(alone.number)].flat());
      const ids = new Set(exported.map((document): string => JSON.parse(document).id));
      for (const { seen } of pollers) expect(seen).toEqual(ids);
    }),
    { numRuns: 10 },
  );
});

/** An account, in which a transaction of an import ends after a part or two. */
function anAccountOfSmallTransactions() {
  const { path, admin, served } = openBoth();
  // Another program that requests the lock all the time.
  const requesting = setInterval(() => {
    if (existsSync(`${path}.asking`)) appendFileSync(`${path}.asking`, ".");
  }, 0);
  onTestFinished(() => {
    clearInterval(requesting);
  });
  const account = anAccount(admin);
  return { admin, account, poller: aPoller(served, account.number) };
}

/** So many leads, one a second, from so many seconds after noon on. */
const leadsFrom = (second: number, count: number) =>
  Array.from({ length: count }, (_, n) =>
    newLead(aLead({ identified_at: formatTime(noonMs - 86_400_000 + (second + n) * 1000) })),
  );

test("leads older than those that another import added in the meantime are late", async () => {
  const { admin, account } = anAccountOfSmallTransactions();
  const slow = importing(admin, account, leadsFrom(0, 3000));
  const { value: first } = await slow.next();
  expect(first).toMatchObject({ counts: { late: 0 } });
  const done = first?.done ?? 0;
  expect(await imported(admin, account, leadsFrom(2500, 1))).toMatchObject({ imported: 1, late: 0 });
  let late = 0;
  for await (const { counts } of slow) late = counts.late;
  // That of second 2,500 is moved after the stored one.
  expect(late).toBe(2500 - done);
});

test("leads are not late if another import added older ones", async () => {
  const { admin, account } = anAccountOfSmallTransactions();
  const slow = importing(admin, account, leadsFrom(0, 3000));
  await slow.next();
  expect(await imported(admin, account, leadsFrom(-10, 10))).toMatchObject({ imported: 10, late: 10 });
  for await (const { counts } of slow) expect(counts.late).toBe(0);
});

test("a client misses only leads counted as late, however imports and polls interleave", async () => {
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
    { numRuns: 10 },
  );
});
