/** In whatever order a file lies, whatever moments it shares and wherever it is cut short: nobody who polls misses a lead. */
import { expect, onTestFinished, spyOn, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { moveDocument } from "../../src/contract/stored-lead.ts";
import { writeMoment } from "../../src/contract/time.ts";
import type { ImportOptions, NewLead } from "../../src/import/new-lead.ts";
import { openServedStore } from "../../src/served-store.ts";
import { aPoller } from "../db/a-poller.ts";
import { importing } from "../db/importing.ts";
import { beginModelImport, type Row } from "../db/model-import.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";

const options: ImportOptions = { onDuplicate: "skip", createPixels: true, dryRun: false };

function openBoth() {
  const path = join(aFolder(), "leadfile.db");
  const admin = openAdminStore(path);
  const served = openServedStore(path);
  onTestFinished(() => {
    admin.close();
    served.close();
  });
  return { admin, served };
}

/** Ends an import after so many transactions. */
async function cutShort(merge: AsyncGenerator<unknown>, transactions: number, afterEach: () => void): Promise<void> {
  let left = transactions;
  for await (const _ of merge) {
    afterEach();
    if (--left === 0) return;
  }
}

/** What the model makes of the same leads, given in the order of time and, within it, of the file. */
function modelOf(before: readonly NewLead[], leads: readonly NewLead[]): string[] {
  const rows: Row[] = [];
  const model = { rows, account: 1, options, hasPixel: () => true, createPixel: () => undefined };
  beginModelImport(model).write(before, noonMs);
  const inOrder = leads.toSorted((a, b) => (a.identifiedMs ?? Infinity) - (b.identifiedMs ?? Infinity) || 0);
  beginModelImport(model).write(inOrder, noonMs);
  return rows.toSorted((a, b) => a.at - b.at).map((row) => moveDocument(row.document, writeMoment(row.at)));
}

const aFile = fc.record({
  rows: fc.integer({ min: 0, max: 2500 }),
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
    const over = { identified_at: writeMoment(identifiedMs), name: `Row ${row}` };
    const lead = newLead(aLead({ ...(known === undefined ? {} : { id: known }), ...over }));
    leads.push(random() < untimed ? { ...lead, identifiedMs: null } : lead);
  }
  if (order === "shuffled") return leads;
  const sign = order === "oldest first" ? 1 : -1;
  return leads.toSorted((a, b) => sign * ((a.identifiedMs ?? 0) - (b.identifiedMs ?? 0)));
}

test("in any order, with any ties, cut short anywhere and begun again: two pollers see all, and the model agrees", async () => {
  const { admin, served } = openBoth();
  // Whenever the clock is looked at, a second is over: a transaction ends after a part or two.
  let clockMs = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => (clockMs += 1000));
  onTestFinished(() => clock.mockRestore());
  let run = 0;
  const cuts = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(aFile, fc.integer({ min: 0, max: 40 }), cuts, async (file, older, cuts) => {
      const account = admin.accounts.create(`run ${run++}`, 0);
      if (account === null) throw new Error("the name was taken");
      const before = Array.from({ length: older }, (_, n) =>
        newLead(aLead({ identified_at: writeMoment(noonMs - 7_200_000 + n) })),
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
      expect(exported).toEqual(modelOf(before, leads));
      const ids = new Set(exported.map((document): string => JSON.parse(document).id));
      for (const { seen } of pollers) expect(seen).toEqual(ids);
    }),
    { numRuns: 12 },
  );
});
