/** Imports compared with a model, a few arrays: whatever is imported, interrupted, and requested, both give the same. */
import { expect, onTestFinished, spyOn, test } from "bun:test";
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { dayMs, earliestMs } from "../../src/contract/calendar.ts";
import type { Lead } from "../../src/contract/lead.ts";
import { toLeadQuery } from "../../src/contract/parameters.ts";
import { moveDocument } from "../../src/contract/stored-lead.ts";
import { formatTime } from "../../src/contract/time.ts";
import type { LeadDatabase } from "../../src/db/connection.ts";
import { emptyCounts, type ImportCounts, type ImportOptions, type NewLead } from "../../src/import/new-lead.ts";
import { openServedStore } from "../../src/server/store.ts";
import { imported, importing } from "../db/importing.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { anAccount, documentsOf, openTestDatabase } from "../support/database.ts";
import { aFolder } from "../support/folder.ts";
import { erase, retain } from "../support/privacy.ts";

interface Row extends NewLead {
  readonly at: number;
}

const retainDays = 30;
const erased = "robin@example.com";
type KeptOut = "old" | "erased";

/** An account as arrays, with every rule in its plainest form: slow, and so simple that it is right at sight. */
class Model {
  private readonly rows = new Map<string, Row>();
  private readonly taken = new Set<number>();
  private newest = Number.NEGATIVE_INFINITY;
  readonly pixels = new Set(["px_site"]);

  constructor(private readonly keepsOut: readonly KeptOut[]) {}

  /** Imports leads one by one, oldest first, and counts what became of them. */
  import(leads: readonly NewLead[], options: ImportOptions): ImportCounts {
    const newestAtBegin = this.newest;
    const counts = emptyCounts();
    for (const lead of leads.toSorted((a, b) => timeOf(a) - timeOf(b))) {
      const outcome = this.outcomeOf(lead, options);
      counts.read++;
      counts[outcome]++;
      if (outcome === "replaced") this.rows.set(lead.id, { ...lead, at: this.rows.get(lead.id)?.at ?? 0 });
      if (outcome !== "imported") continue;
      const wanted = lead.identifiedMs ?? Math.max(noonMs, this.newest + 1);
      const at = this.place(lead, wanted);
      if (lead.clamped || (lead.identifiedMs !== null && at !== wanted)) counts.moved++;
      if (at < newestAtBegin) counts.late++;
    }
    return counts;
  }

  exported(): string[] {
    const inOrder = [...this.rows.values()].toSorted((a, b) => a.at - b.at);
    return inOrder.map(({ document, at }) => moveDocument(document, formatTime(at)));
  }

  private outcomeOf({ id, pixelId, identifiedMs, document }: NewLead, { onDuplicate, createPixels }: ImportOptions) {
    if (this.keepsOut.includes("erased") && JSON.parse(document).email === erased) return "suppressed";
    const isOld = identifiedMs !== null && identifiedMs < noonMs - retainDays * dayMs;
    if (this.keepsOut.includes("old") && isOld) return "rejected";
    const stored = this.rows.get(id);
    if (stored !== undefined)
      return onDuplicate === "replace" && stored.pixelId === pixelId ? "replaced" : "duplicates";
    if (createPixels) this.pixels.add(pixelId);
    return this.pixels.has(pixelId) ? "imported" : "rejected";
  }

  /** Stores a lead at the first free millisecond. */
  private place(lead: NewLead, wanted: number): number {
    let at = wanted;
    while (this.taken.has(at)) at++;
    this.rows.set(lead.id, { ...lead, at });
    this.taken.add(at);
    this.newest = Math.max(this.newest, at);
    return at;
  }
}

const timeOf = ({ identifiedMs }: NewLead) => identifiedMs ?? Number.MAX_SAFE_INTEGER;

/** A client that polls as the README says: since the newest it has seen, all pages, known IDs dropped. */
function aPoller(database: LeadDatabase, served: ReturnType<typeof openServedStore>, account: number) {
  const seen = new Set<string>();
  let sinceMs: number | null = null;
  function poll() {
    let newest = sinceMs;
    for (let beforeMs: number | null = null, more = true; more; more = beforeMs !== null) {
      const query = { ...toLeadQuery({ limit: 100 }), beforeMs, sinceMs };
      const { documents, nextMs } = served.leads.page(account, query);
      for (const document of documents) {
        const lead: Lead = JSON.parse(Buffer.from(document).toString());
        seen.add(lead.id);
        newest = Math.max(newest ?? Number.NEGATIVE_INFINITY, Date.parse(lead.identified_at));
      }
      beforeMs = nextMs;
    }
    sinceMs = newest;
  }
  return {
    poll,
    /** Polls, and counts the stored leads that it has missed since the last count. */
    missed() {
      poll();
      const stored = documentsOf(database, account).map((lead): string => JSON.parse(lead).id);
      const unseen = new Set(stored).difference(seen);
      unseen.forEach((id) => void seen.add(id));
      return unseen.size;
    },
  };
}

function openBoth() {
  const path = join(aFolder(), "leadfile.db");
  const database = openTestDatabase(path);
  const served = openServedStore(path);
  // Whenever the clock is looked at, some time is over. With a second, a transaction ends after a part or two.
  const passing = { stepMs: 1000 };
  let clockMs = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => (clockMs += passing.stepMs));
  onTestFinished(() => {
    clock.mockRestore();
    database.close();
    served.close();
  });
  return { path, database, served, passing };
}

/** Imports until so many transactions are done, and returns the counts. */
async function importUpTo(transactions: number, merge: ReturnType<typeof importing>, afterEach: () => void) {
  let counts: Readonly<ImportCounts> = emptyCounts();
  let left = transactions;
  for await (const progress of merge) {
    ({ counts } = progress);
    afterEach();
    if (--left === 0) break;
  }
  return counts;
}

const maxRows = 1200;
const baseMs = noonMs - dayMs / 4;
const ids = Array.from({ length: 2 * maxRows }, () => crypto.randomUUID());
const statesOfLeads = ["CA", "NV", null];
const citiesOfLeads = ["Reno", "Austin", null];
const endsOfTime = [earliestMs, -1, 0, Date.parse("9999-12-31T23:59:59.000Z")];

/** The kinds of unusual leads. A file has some of them, each in a few of its rows. */
const kinds = ["too old", "again", "untimed", "clamped", "other pixel", "erased", "at the end of time"] as const;

const aFile = fc.record({
  kinds: fc.subarray([...kinds], { maxLength: 3 }),
  rows: fc.oneof(fc.nat(20), fc.nat(maxRows)),
  /** Within so many milliseconds: few make many ties. */
  withinMs: fc.constantFrom(1, 50, 3000, 3_000_000),
  hoursLater: fc.nat(2),
  order: fc.constantFrom("newest first" as const, "oldest first" as const, "shuffled" as const),
  /** Files that begin alike have leads in common. */
  firstId: fc.constantFrom(0, 10, maxRows),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
});

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

type File = typeof aFile extends fc.Arbitrary<infer F> ? F : never;

function leadsOf({ kinds, rows, withinMs, hoursLater, order, firstId, seed }: File): NewLead[] {
  const random = randomOf(seed);
  const oneOf = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T; // No list is empty.
  const leads: NewLead[] = [];
  for (let place = 0; place < rows; place++) {
    const kind = kinds[Math.floor(random() * 40)];
    const earlier = kind === "again" ? leads[Math.floor(random() * place)] : undefined;
    const timely = baseMs + hoursLater * (dayMs / 24) + Math.floor(random() * withinMs);
    const identifiedMs = kind === "at the end of time" ? oneOf(endsOfTime) : timely;
    const lead = newLead(
      aLead({
        id: earlier?.id ?? ids[firstId + place] ?? "",
        identified_at: formatTime(kind === "too old" ? identifiedMs - retainDays * dayMs : identifiedMs),
        pixel_id: earlier?.pixelId ?? (kind === "other pixel" ? "px_other" : "px_site"),
        state: oneOf(statesOfLeads),
        city: oneOf(citiesOfLeads),
        email: kind === "erased" ? erased : oneOf(["dana@example.com", null]),
        name: `Row ${place}`,
      }),
    );
    leads.push({ ...lead, clamped: kind === "clamped", ...(kind === "untimed" && { identifiedMs: null }) });
  }
  const signs = { "oldest first": 1, "newest first": -1, shuffled: 0 };
  return leads.toSorted((a, b) => signs[order] * ((a.identifiedMs ?? 0) - (b.identifiedMs ?? 0)));
}

const anImport = fc.record({
  file: aFile,
  options: fc.record({
    onDuplicate: fc.constantFrom("skip" as const, "replace" as const),
    createPixels: fc.boolean(),
    dryRun: fc.constant(false),
  }),
  /** The transactions after which it is interrupted, before it is imported completely. */
  cuts: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  stepMs: fc.constantFrom(0, 1000),
});

test("in any order, with any ties, and interrupted anywhere, files import as leads alone do, and no polling client misses one", async () => {
  const { database, served, passing } = openBoth();
  const someImports = fc.array(anImport, { minLength: 1, maxLength: 3 });
  const keptOut = fc.subarray<KeptOut>(["old", "erased"]);
  const property = fc.asyncProperty(
    someImports,
    keptOut,
    fc.infiniteStream(fc.boolean()),
    async (imports, kept, polls) => {
      const account = anAccount(database, { pixels: [{ id: "px_site", status: "active" }] });
      if (kept.includes("old")) await retain(database, account, retainDays, noonMs);
      if (kept.includes("erased")) await erase(database, account, [{ kind: "email", value: erased }], noonMs);
      const model = new Model(kept);
      const client = aPoller(database, served, account.number);
      const pollOrNot = () => polls.next().value === true && client.poll();
      let [late, missed] = [0, 0];
      for (const { file, options, cuts, stepMs } of imports) {
        const leads = leadsOf(file);
        passing.stepMs = stepMs;
        const counts = model.import(leads, options);
        expect(await imported(database, account, leads, { options: { ...options, dryRun: true } })).toEqual(counts);
        for (const cut of cuts) await importUpTo(cut, importing(database, account, leads, { options }), pollOrNot);
        const last = await importUpTo(
          Number.POSITIVE_INFINITY,
          importing(database, account, leads, { options }),
          pollOrNot,
        );
        if (cuts.length === 0) expect(last).toEqual(counts);
        expect(documentsOf(database, account.number)).toEqual(model.exported());
        expect(served.pixels.list(account.number).map(({ id }) => id)).toEqual([...model.pixels]);
        late += counts.late;
        missed += client.missed();
        expect(missed).toBeLessThanOrEqual(late);
      }
    },
  );
  await fc.assert(property, { numRuns: 16 });
});

test("a lead without a time follows the newest of its file, also if one statement inserted all others", async () => {
  const { database, passing } = openBoth();
  passing.stepMs = 0;
  const account = anAccount(database, { pixels: [{ id: "px_site", status: "active" }] });
  const leads = Array.from({ length: 500 }, (_, n) => newLead(aLead({ identified_at: formatTime(noonMs + 2 * n) })));
  const untimed = { ...newLead(aLead()), identifiedMs: null };
  await imported(database, account, [untimed, ...leads]);
  const last: Lead = JSON.parse(documentsOf(database, account.number).at(-1) ?? "");
  expect([last.id, last.identified_at]).toEqual([untimed.id, formatTime(noonMs + 999)]);
});

/** An account, in which a transaction of an import ends after a part or two. */
function anAccountOfSmallTransactions() {
  const { path, database, served } = openBoth();
  // Another program that requests the lock all the time.
  const requesting = setInterval(() => {
    if (existsSync(`${path}.asking`)) appendFileSync(`${path}.asking`, ".");
  }, 0);
  onTestFinished(() => {
    clearInterval(requesting);
  });
  const account = anAccount(database);
  return { database, account, poller: aPoller(database, served, account.number) };
}

/** So many leads, one a second, from so many seconds after noon on. */
const leadsFrom = (second: number, count: number) =>
  Array.from({ length: count }, (_, n) =>
    newLead(aLead({ identified_at: formatTime(noonMs - 86_400_000 + (second + n) * 1000) })),
  );

test("leads older than those that another import added in the meantime are late", async () => {
  const { database, account } = anAccountOfSmallTransactions();
  const slow = importing(database, account, leadsFrom(0, 3000));
  const { value: first } = await slow.next();
  expect(first).toMatchObject({ counts: { late: 0 } });
  const done = first?.done ?? 0;
  expect(await imported(database, account, leadsFrom(2500, 1))).toMatchObject({ imported: 1, late: 0 });
  let late = 0;
  for await (const { counts } of slow) late = counts.late;
  // That of second 2,500 is moved after the stored one.
  expect(late).toBe(2500 - done);
});

test("leads are not late if another import added older ones", async () => {
  const { database, account } = anAccountOfSmallTransactions();
  const slow = importing(database, account, leadsFrom(0, 3000));
  await slow.next();
  expect(await imported(database, account, leadsFrom(-10, 10))).toMatchObject({ imported: 10, late: 10 });
  for await (const { counts } of slow) expect(counts.late).toBe(0);
});

test("a client misses only leads counted as late, however imports and polls interleave", async () => {
  const { database, account, poller } = anAccountOfSmallTransactions();
  const pieces = fc.array(fc.record({ second: fc.nat(4000), count: fc.integer({ min: 1, max: 1500 }) }), {
    minLength: 2,
    maxLength: 3,
  });
  let begin = 0;
  await fc.assert(
    fc.asyncProperty(pieces, fc.infiniteStream(fc.nat(3)), async (pieces, turns) => {
      begin += 10_000;
      const late = new Map<number, number>();
      const running = pieces.map(({ second, count }) => importing(database, account, leadsFrom(begin + second, count)));
      while (running.length > 0) {
        const turn = turns.next().value ?? 0;
        const [one] = running.slice(turn);
        if (one === undefined) poller.poll();
        else {
          const { value, done } = await one.next();
          if (done === true) running.splice(turn, 1);
          else if (value.importNumber !== null) late.set(value.importNumber, value.counts.late);
        }
      }
      expect(poller.missed()).toBeLessThanOrEqual(late.values().reduce((sum, one) => sum + one, 0));
    }),
    { numRuns: 6 },
  );
});
