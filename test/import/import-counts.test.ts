/** Most leads of a file are inserted by one statement. The leads and the counts are the same as if each was written alone. */
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { dayMs } from "../../src/contract/calendar.ts";
import type { Lead } from "../../src/contract/lead.ts";
import type { Account } from "../../src/db/accounts.ts";
import { emptyCounts, type ImportCounts, type ImportOptions, type NewLead } from "../../src/import/new-lead.ts";
import { beginBatch, noteOutcome } from "../../src/import/write/batch.ts";
import { imported, origin } from "../db/importing.ts";
import type { AdminStore } from "../support/admin-store.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { anAccount } from "../support/harness.ts";
import { erase, retain } from "../support/privacy.ts";

const site = { pixels: [{ id: "px_site", status: "active" }] };
const maxRows = 600;
const retainDays = 30;
const erased = "robin@example.com";
const ids = Array.from({ length: 3 * maxRows }, () => crypto.randomUUID());

/** The kinds of unusual leads. A file has some of them, each in a few of its rows. */
const kinds = ["too old", "again", "untimed", "clamped", "other pixel", "erased"] as const;

const aFile = fc
  .record({
    kinds: fc.subarray([...kinds], { maxLength: 2 }),
    withinMs: fc.constantFrom(40, 50_000_000),
    /** Files that begin alike have leads in common. */
    firstId: fc.constantFrom(0, maxRows, 2 * maxRows),
    rows: fc.array(fc.noBias(fc.record({ afterMs: fc.nat({ max: 50_000_000 }), odd: fc.nat({ max: 300 }) })), {
      maxLength: maxRows,
      size: "max",
    }),
  })
  .map(({ kinds, withinMs, firstId, rows }) =>
    rows.map(({ afterMs, odd }, place): NewLead => {
      const kind = kinds[odd];
      const identifiedMs = noonMs - dayMs / 4 + (afterMs % withinMs) - (kind === "too old" ? retainDays * dayMs : 0);
      const lead = newLead(
        aLead({
          id: ids[firstId + (kind === "again" ? Math.max(0, place - 7) : place)] ?? "",
          identified_at: new Date(identifiedMs).toISOString(),
          pixel_id: kind === "other pixel" ? "px_other" : "px_site",
          email: kind === "erased" ? erased : `d${place}@example.com`,
        }),
      );
      return { ...lead, clamped: kind === "clamped", ...(kind === "untimed" && { identifiedMs: null }) };
    }),
  );

async function eraseRobin(store: AdminStore, account: Account): Promise<void> {
  await erase(store.database, account, [{ kind: "email", value: erased }], noonMs);
}

async function keepForDays(store: AdminStore, account: Account): Promise<void> {
  await retain(store.database, account, retainDays, noonMs);
}

/** Each for itself, in the order of time. */
function oneByOne(store: AdminStore, account: Account, file: readonly NewLead[], options: ImportOptions): ImportCounts {
  const batch = beginBatch(account.number, origin, { counts: emptyCounts(), layout: null });
  const { write } = store.leads.beginImport(account.number, options);
  const timeOf = ({ identifiedMs }: NewLead) => identifiedMs ?? Number.POSITIVE_INFINITY;
  const inOrder = file.toSorted((a, b) => (timeOf(a) === timeOf(b) ? 0 : timeOf(a) - timeOf(b)));
  for (const outcome of write(inOrder, noonMs)) noteOutcome(batch, outcome);
  return batch.counts;
}

test("the leads and the counts of a file are those of its leads one by one, also in a dry run", async () => {
  const store = openAdminStore(join(aFolder(), "leadfile.db"));
  onTestFinished(() => store.close());
  const how = fc.record({
    onDuplicate: fc.constantFrom("skip" as const, "replace" as const),
    createPixels: fc.boolean(),
    dryRun: fc.constant(false),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(aFile, { minLength: 1, maxLength: 3 }),
      how,
      fc.subarray(["old", "erased"]),
      async (files, options, keepsOut) => {
        const [asOne, single] = [anAccount(store, site), anAccount(store, site)];
        for (const account of [asOne, single]) {
          if (keepsOut.includes("old")) await keepForDays(store, account);
          if (keepsOut.includes("erased")) await eraseRobin(store, account);
        }
        for (const file of files) {
          // By one statement for many, where that goes.
          const counts = await imported(store, asOne, file, { options });
          expect(counts).toEqual(oneByOne(store, single, file, options));
        }
        const [first, second] = [asOne, single].map(({ number }) => [...store.leads.export(number)].flat());
        expect(first).toEqual(second ?? []);
        expect(store.pixels.list(asOne.number)).toEqual(store.pixels.list(single.number));
      },
    ),
    { numRuns: 30 },
  );
});

/** An account, and 500 leads with two milliseconds from each to the next: one statement inserts them. */
function aCleanFile() {
  const store = openAdminStore(join(aFolder(), "leadfile.db"));
  onTestFinished(() => store.close());
  const account = anAccount(store, site);
  const leads = Array.from({ length: 500 }, (_, n) => newLead(aLead({ identified_at: momentOf(2 * n) })));
  return { store, account, leads };
}

const options: ImportOptions = { onDuplicate: "skip", createPixels: false, dryRun: false };
const momentOf = (ms: number) => new Date(noonMs + ms).toISOString();

test("a lead without a time follows the newest of its file, also if one statement inserted all others", async () => {
  const { store, account, leads } = aCleanFile();
  const untimed = { ...newLead(aLead()), identifiedMs: null };
  await imported(store, account, [untimed, ...leads], { options });
  const last: Lead = JSON.parse([...store.leads.export(account.number)].flat().at(-1) ?? "");
  expect([last.id, last.identified_at]).toEqual([untimed.id, momentOf(999)]);
});

test("a lead that is older than the retention is rejected, also if one statement could insert all others", async () => {
  const { store, account, leads } = aCleanFile();
  await keepForDays(store, account);
  const old = newLead(aLead({ identified_at: momentOf(-retainDays * dayMs - 1) }));
  expect(await imported(store, account, [...leads.slice(1), old], { options })).toMatchObject({
    imported: 499,
    rejected: 1,
  });
});
