/** The store compared with a model, a few arrays: whatever is imported and requested, both answer alike. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { earliestMs } from "../../src/contract/calendar.ts";
import type { LeadQuery } from "../../src/contract/parameters.ts";
import { moveDocument, writeDocument } from "../../src/contract/stored-lead.ts";
import { formatTime } from "../../src/contract/time.ts";
import type { ImportOptions, ImportOutcome, NewLead } from "../../src/import/new-lead.ts";
import type { LeadImport } from "../support/admin-store.ts";
import { aLead, importLeads, noonMs } from "../support/builders.ts";
import { accountIn, openStores } from "./stores.ts";

interface Row extends NewLead {
  readonly account: number;
  readonly at: number;
}

interface ModelImport {
  /** Those of all accounts; what is imported is added to them. */
  readonly rows: Row[];
  readonly account: number;
  readonly options: ImportOptions;
  readonly hasPixel: (id: string) => boolean;
  readonly createPixel: (id: string) => void;
}

/** Every rule of an import in its plainest form. */
function beginModelImport({ rows, account, options, hasPixel, createPixel }: ModelImport): LeadImport {
  const mine = () => rows.filter((row) => row.account === account);
  const newest = () => Math.max(...mine().map((row) => row.at));
  const newestAtBegin = newest();

  function writeOne(lead: NewLead, nowMs: number): ImportOutcome {
    const existing = mine().find((row) => row.id === lead.id);
    const mayReplace = options.onDuplicate === "replace" && existing?.pixelId === lead.pixelId;
    if (existing !== undefined && !mayReplace) return { kind: "duplicate" };
    if (options.createPixels) createPixel(lead.pixelId);
    else if (!hasPixel(lead.pixelId)) return { kind: "rejected" };
    if (existing === undefined) return place(lead, lead.identifiedMs ?? Math.max(nowMs, newest() + 1));
    rows[rows.indexOf(existing)] = { ...lead, account, at: existing.at };
    return { kind: "replaced", ofOther: false };
  }

  function place(lead: NewLead, wanted: number): ImportOutcome {
    const taken = new Set(mine().map((row) => row.at));
    let at = wanted;
    while (taken.has(at)) at++;
    rows.push({ ...lead, account, at });
    return { kind: "imported", atMs: at, moved: lead.identifiedMs !== null && at !== wanted, late: at < newestAtBegin };
  }

  return { write: (leads, nowMs) => leads.map((lead) => writeOne(lead, nowMs)) };
}

const documentOf = (row: Row) => moveDocument(row.document, formatTime(row.at));
/** With room for all leads of a run above it. */
const latestMs = Date.parse("9999-12-31T23:59:59.000Z");
const newestFirst = (a: Row, b: Row) => b.at - a.at;

/** An account as arrays: slow, and so simple that it is right at sight. */
function createModel() {
  const account = 1;
  const rows: Row[] = [];
  const pixels = new Set<string>();
  return {
    begin: (options: ImportOptions) =>
      beginModelImport({
        ...{ rows, account, options },
        hasPixel: (id) => pixels.has(id),
        createPixel: (id) => pixels.add(id),
      }),
    pixels: () => [...pixels].map((id) => ({ id, status: "active" })),
    exported: () => rows.toSorted(newestFirst).toReversed().map(documentOf),
    page({ limit, beforeMs, sinceMs, pixel_id, state, city, has_email }: LeadQuery) {
      const found = rows
        .filter((row) => beforeMs === null || row.at < beforeMs)
        .filter((row) => sinceMs === null || row.at >= sinceMs)
        .filter((row) => pixel_id === null || row.pixelId === pixel_id)
        .filter((row) => state === null || row.state === state)
        .filter((row) => city === null || row.cityKey === city)
        .filter((row) => !has_email || row.hasEmail)
        .toSorted(newestFirst);
      const page = found.slice(0, limit);
      const [newest, oldest] = [page[0], page.at(-1)];
      const reachMs = found.length > limit ? null : sinceMs;
      const span =
        newest === undefined || oldest === undefined
          ? null
          : { oldestMs: reachMs ?? oldest.at, newestMs: newest.at, seen: 0 };
      const nextMs = found.length > limit ? (oldest?.at ?? null) : null;
      return { documents: page.map((lead) => Buffer.from(documentOf(lead))), nextMs, span };
    },
  };
}

/** Mostly near each other, so that they tie, and some at the ends of all years. */
const timestamp = (distanceMs: number) =>
  fc.option(
    fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: noonMs - distanceMs, max: noonMs + distanceMs }) },
      { weight: 1, arbitrary: fc.constantFrom(earliestMs, -1, 0, latestMs) },
    ),
  );

test("whatever is imported and requested, the store answers as the model does", () => {
  const lead: fc.Arbitrary<NewLead> = fc
    .record({
      // Few values, so that IDs repeat, timestamps tie, and filters meet.
      id: fc.constantFrom(...Array.from({ length: 30 }, () => crypto.randomUUID())),
      identifiedMs: timestamp(6),
      pixelId: fc.constantFrom("px_a", "px_b"),
      state: fc.constantFrom("CA", "NV", null),
      cityKey: fc.constantFrom("reno", "austin", null),
      hasEmail: fc.boolean(),
      name: fc.constantFrom("A", "B"),
    })
    .map(({ name, ...lead }) => {
      const { id, pixelId, identifiedMs } = lead;
      const identified_at = formatTime(identifiedMs ?? 0);
      const made = aLead({ id, identified_at, pixel_id: pixelId, name });
      return { ...lead, clamped: false, aliases: [], vendorId: null, document: writeDocument(made, made) };
    });
  const options = fc.record({
    onDuplicate: fc.constantFrom("skip" as const, "replace" as const),
    createPixels: fc.boolean(),
  });
  const query = fc.record({
    limit: fc.integer({ min: 1, max: 8 }),
    beforeMs: timestamp(8),
    sinceMs: timestamp(8),
    pixel_id: fc.constantFrom("px_a", "px_b", "px_c", null),
    state: fc.constantFrom("CA", "NV", "TX", null),
    city: fc.constantFrom("reno", "austin", null),
    has_email: fc.boolean(),
  });
  const imports = fc.array(fc.tuple(fc.array(lead, { maxLength: 12 }), options), { maxLength: 4 });
  const { served, leads, ...store } = openStores();
  let run = 0;
  fc.assert(
    fc.property(imports, fc.array(query, { minLength: 3, maxLength: 8 }), (imports, queries) => {
      const account = accountIn(store, `run ${run++}`).number;
      const model = createModel();
      for (const [batch, how] of imports) {
        const beginImport = (_: number, options: ImportOptions) => model.begin(options);
        const [ofStore, ofModel] = [leads, { beginImport }].map((place) =>
          importLeads(place, account, batch, how).map((outcome) => ({ ...outcome, reason: "" })),
        );
        expect(ofStore).toEqual(ofModel ?? []);
      }
      expect([...leads.export(account)].flat()).toEqual(model.exported());
      expect(served.pixels.list(account)).toEqual(model.pixels());
      for (const query of queries) expect(served.leads.page(account, query)).toEqual(model.page(query));
    }),
    { numRuns: 150 },
  );
});
