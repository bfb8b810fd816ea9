/** Imports compared with a model, a few arrays: whatever is imported, interrupted, and requested, both give the same. */
import { expect, onTestFinished, spyOn, test } from "bun:test";
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { dayMs, earliestMs } from "../../src/contract/calendar.ts";
import type { Lead } from "../../src/contract/lead.ts";
import type { LeadQuery } from "../../src/contract/parameters.ts";
import { moveDocument } from "../../src/contract/stored-lead.ts";
import { formatTime } from "../../src/contract/time.ts";
import {
  emptyCounts,
  type ImportCounts,
  type ImportOptions,
  type ImportOutcome,
  type NewLead,
} from "../../src/import/new-lead.ts";
import { openServedStore } from "../../src/served-store.ts";
import { imported, importing } from "../db/importing.ts";
import { type LeadImport, openAdminStore } from "../support/admin-store.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { anAccount } from "../support/harness.ts";
import { erase, retain } from "../support/privacy.ts";

interface Row extends NewLead {
  readonly at: number;
}

const documentOf = (row: Row) => moveDocument(row.document, formatTime(row.at));
const retainDays = 30;
const erased = "robin@example.com";
type KeptOut = "old" | "erased";

/** An account as arrays, with every rule in its plainest form: slow, and so simple that it is right at sight. */
function createModel(keepsOut: readonly KeptOut[], pixelIds: readonly string[]) {
  const rows = new Map<string, Row>();
  const taken = new Set<number>();
  const pixels = new Set(pixelIds);
  let newest = Number.NEGATIVE_INFINITY;

  function objection({ identifiedMs, document }: NewLead): ImportOutcome | null {
    if (keepsOut.includes("erased") && JSON.parse(document).email === erased) return { kind: "suppressed" };
    const isOld = identifiedMs !== null && identifiedMs < noonMs - retainDays * dayMs;
    return keepsOut.includes("old") && isOld ? { kind: "rejected" } : null;
  }

  function writeOne(lead: NewLead, options: ImportOptions, newestAtBegin: number): ImportOutcome {
    const kept = objection(lead);
    if (kept !== null) return kept;
    const existing = rows.get(lead.id);
    const mayReplace = options.onDuplicate === "replace" && existing?.pixelId === lead.pixelId;
    if (existing !== undefined && !mayReplace) return { kind: "duplicate" };
    if (options.createPixels) pixels.add(lead.pixelId);
    else if (!pixels.has(lead.pixelId)) return { kind: "rejected" };
    if (existing !== undefined) {
      rows.set(lead.id, { ...lead, at: existing.at });
      return { kind: "replaced", ofOther: false };
    }
    return place(lead, lead.identifiedMs ?? Math.max(noonMs, newest + 1), newestAtBegin);
  }

  function place(lead: NewLead, wanted: number, newestAtBegin: number): ImportOutcome {
    let at = wanted;
    while (taken.has(at)) at++;
    rows.set(lead.id, { ...lead, at });
    taken.add(at);
    newest = Math.max(newest, at);
    const moved = lead.clamped || (lead.identifiedMs !== null && at !== wanted);
    return { kind: "imported", atMs: at, moved, late: at < newestAtBegin };
  }

  const newestFirst = () => [...rows.values()].toSorted((a, b) => b.at - a.at);
  return {
    begin(options: ImportOptions): LeadImport {
      const newestAtBegin = newest;
      return { write: (leads) => leads.map((lead) => writeOne(lead, options, newestAtBegin)) };
    },
    pixels: () => [...pixels].map((id) => ({ id, status: "active" })),
    exported: () => newestFirst().toReversed().map(documentOf),
    page({ limit, beforeMs, sinceMs, pixel_id, state, city, has_email }: LeadQuery) {
      const found = newestFirst()
        .filter((row) => beforeMs === null || row.at < beforeMs)
        .filter((row) => sinceMs === null || row.at >= sinceMs)
        .filter((row) => pixel_id === null || row.pixelId === pixel_id)
        .filter((row) => state === null || row.state === state)
        .filter((row) => city === null || row.cityKey === city)
        .filter((row) => !has_email || row.hasEmail);
      const page = found.slice(0, limit);
      const [newest, oldest] = [page[0], page.at(-1)];
      const reachMs = found.length > limit ? null : sinceMs;
      const span =
        newest === undefined || oldest === undefined
          ? null
          : { oldestMs: reachMs ?? oldest.at, newestMs: newest.at, seen: expect.any(Number) };
      const nextMs = found.length > limit ? (oldest?.at ?? null) : null;
      return { documents: page.map((lead) => Buffer.from(documentOf(lead))), nextMs, span };
    },
  };
}

function countsOf(outcomes: readonly ImportOutcome[]): ImportCounts {
  const count = (holds: (outcome: ImportOutcome) => boolean) => outcomes.filter(holds).length;
  return {
    read: outcomes.length,
    imported: count(({ kind }) => kind === "imported"),
    duplicates: count(({ kind }) => kind === "duplicate"),
    replaced: count(({ kind }) => kind === "replaced"),
    suppressed: count(({ kind }) => kind === "suppressed"),
    rejected: count(({ kind }) => kind === "rejected"),
    moved: count((outcome) => outcome.kind === "imported" && outcome.moved),
    late: count((outcome) => outcome.kind === "imported" && outcome.late),
  };
}

/** A client that polls as the README says: since the newest it has seen, all pages, known IDs dropped. */
function aPoller(served: ReturnType<typeof openServedStore>, account: number) {
  const seen = new Set<string>();
  let sinceMs: number | null = null;
  return {
    seen,
    poll() {
      let newest = sinceMs;
      for (let beforeMs: number | null = null, more = true; more; ) {
        const query = { limit: 100, beforeMs, sinceMs, pixel_id: null, state: null, city: null, has_email: false };
        const { documents, nextMs } = served.leads.page(account, query);
        for (const document of documents) {
          const lead: Lead = JSON.parse(Buffer.from(document).toString());
          seen.add(lead.id);
          newest = Math.max(newest ?? Number.NEGATIVE_INFINITY, Date.parse(lead.identified_at));
        }
        beforeMs = nextMs;
        more = nextMs !== null;
      }
      sinceMs = newest;
    },
  };
}

/** Two clients, of which one polls after every transaction, the other after every second. */
function twoPollers(served: ReturnType<typeof openServedStore>, account: number) {
  const [one, other] = [aPoller(served, account), aPoller(served, account)];
  let turn = 0;
  return {
    poll() {
      one.poll();
      if (turn++ % 2 === 0) other.poll();
    },
    /** The most leads that one of them misses, even if it polls now. */
    missed: (ids: ReadonlySet<string>) =>
      Math.max(
        ...[one, other].map(({ poll, seen }) => {
          poll();
          return ids.difference(seen).size;
        }),
      ),
  };
}

function openBoth() {
  const path = join(aFolder(), "leadfile.db");
  const admin = openAdminStore(path);
  const served = openServedStore(path);
  // Whenever the clock is looked at, some time is over. With a second, a transaction ends after a part or two.
  const passing = { stepMs: 1000 };
  let clockMs = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => (clockMs += passing.stepMs));
  onTestFinished(() => {
    clock.mockRestore();
    admin.close();
    served.close();
  });
  return { path, admin, served, passing };
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
  daysLater: fc.nat(2),
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

function leadsOf({ kinds, rows, withinMs, daysLater, order, firstId, seed }: File): NewLead[] {
  const random = randomOf(seed);
  const oneOf = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T; // No list is empty.
  const leads: NewLead[] = [];
  for (let place = 0; place < rows; place++) {
    const kind = kinds[Math.floor(random() * 40)];
    const earlier = kind === "again" ? leads[Math.floor(random() * place)] : undefined;
    const timely = baseMs + daysLater * (dayMs / 24) + Math.floor(random() * withinMs);
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

const timeOf = ({ identifiedMs }: NewLead) => identifiedMs ?? Number.MAX_SAFE_INTEGER;
const bound = fc.option(fc.oneof(fc.nat(60), fc.nat(3_000_000)).map((afterMs) => baseMs + afterMs));

const aQuery = fc.record({
  limit: fc.integer({ min: 1, max: 100 }),
  beforeMs: bound,
  sinceMs: bound,
  pixel_id: fc.constantFrom("px_site", "px_other", "px_none", null),
  state: fc.constantFrom("CA", "TX", null),
  city: fc.constantFrom("reno", null),
  has_email: fc.boolean(),
});

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
  queries: fc.array(aQuery, { maxLength: 5 }),
});
const someImports = fc.array(anImport, { minLength: 1, maxLength: 3 });
const keptOut = fc.subarray<KeptOut>(["old", "erased"]);

type Both = ReturnType<typeof openBoth>;

/** An account, and the model of it. */
async function modelled({ admin, served }: Both, keepsOut: readonly KeptOut[]) {
  const account = anAccount(admin, { pixels: [{ id: "px_site", status: "active" }] });
  if (keepsOut.includes("old")) await retain(admin.database, account, retainDays, noonMs);
  if (keepsOut.includes("erased")) await erase(admin.database, account, [{ kind: "email", value: erased }], noonMs);
  const model = createModel(keepsOut, ["px_site"]);
  const exported = () => [...admin.leads.export(account.number)].flat();
  return {
    account,
    model,
    ids: () => new Set(exported().map((document): string => JSON.parse(document).id)),
    compare(queries: readonly LeadQuery[]) {
      expect(exported()).toEqual(model.exported());
      expect(served.pixels.list(account.number)).toEqual(model.pixels());
      for (const query of queries) expect(served.leads.page(account.number, query)).toEqual(model.page(query));
    },
  };
}

test("whatever is imported and requested, each lead alone has the outcome that the model gives it", async () => {
  const both = openBoth();
  const property = fc.asyncProperty(someImports, keptOut, async (imports, keepsOut) => {
    const { account, model, compare } = await modelled(both, keepsOut);
    for (const { file, options, queries } of imports) {
      const leads = leadsOf(file);
      const { write } = both.admin.leads.beginImport(account.number, options);
      expect(write(leads, noonMs)).toEqual(model.begin(options).write(leads, noonMs));
      compare(queries);
    }
  });
  await fc.assert(property, { numRuns: 30 });
});

test("in any order, with any ties, and interrupted anywhere, files import as leads alone do, and no polling client misses one", async () => {
  const both = openBoth();
  const { admin, served, passing } = both;
  const property = fc.asyncProperty(someImports, keptOut, async (imports, keepsOut) => {
    const { account, model, compare, ids } = await modelled(both, keepsOut);
    const clients = twoPollers(served, account.number);
    let late = 0;
    for (const { file, options, cuts, stepMs, queries } of imports) {
      const leads = leadsOf(file);
      passing.stepMs = stepMs;
      const inOrder = leads.toSorted((a, b) => timeOf(a) - timeOf(b));
      const counts = countsOf(model.begin(options).write(inOrder, noonMs));
      const dryRun = { ...options, dryRun: true };
      expect(await imported(admin, account, leads, { options: dryRun })).toEqual(counts);
      for (const cut of cuts) await importUpTo(cut, importing(admin, account, leads, { options }), clients.poll);
      const last = await importUpTo(
        Number.POSITIVE_INFINITY,
        importing(admin, account, leads, { options }),
        clients.poll,
      );
      if (cuts.length === 0) expect(last).toEqual(counts);
      compare(queries);
      late += counts.late;
      expect(clients.missed(ids())).toBeLessThanOrEqual(late);
    }
  });
  await fc.assert(property, { numRuns: 30 });
});

test("a lead without a time follows the newest of its file, also if one statement inserted all others", async () => {
  const { admin, passing } = openBoth();
  passing.stepMs = 0;
  const account = anAccount(admin, { pixels: [{ id: "px_site", status: "active" }] });
  const leads = Array.from({ length: 500 }, (_, n) => newLead(aLead({ identified_at: formatTime(noonMs + 2 * n) })));
  const untimed = { ...newLead(aLead()), identifiedMs: null };
  await imported(admin, account, [untimed, ...leads]);
  const last: Lead = JSON.parse([...admin.leads.export(account.number)].flat().at(-1) ?? "");
  expect([last.id, last.identified_at]).toEqual([untimed.id, formatTime(noonMs + 999)]);
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
