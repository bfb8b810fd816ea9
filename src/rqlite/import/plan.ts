/**
 * What becomes of some leads, decided from the file of the own node and written by nobody yet: by the same rules as on a file.
 * Somebody else may write before it goes out, so that a plan knows on what it rests.
 */
import { and, count, eq, sql } from "drizzle-orm";
import { moveDocument } from "../../contract/lead.ts";
import { writeMoment } from "../../contract/time.ts";
import type { Connection } from "../../sqlite/connection.ts";
import { openGuard } from "../../sqlite/import/admission.ts";
import type { Placing } from "../../sqlite/import/place.ts";
import { prepareImport } from "../../sqlite/import/statements.ts";
import { pixelOfAccount } from "../../sqlite/pixels.ts";
import { positionOf } from "../../sqlite/position.ts";
import { placeholder } from "../../sqlite/reading/placeholder.ts";
import { accounts, pixels, leads as stored, suppressedDigests, suppressions } from "../../sqlite/schema.ts";
import type { ImportOptions, ImportOutcome, NewLead } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";

/** A lead at its moment, as its columns have it. */
export interface PlannedLead {
  readonly id: string;
  readonly atMs: number;
  readonly pixel: number;
  readonly state: string | null;
  readonly cityKey: string | null;
  readonly hasEmail: boolean;
  readonly doc: string;
}

/** What must be so still when the plan is written. */
export interface Premises {
  /** How many hashes and digests the account keeps out. */
  readonly blocks: number;
  readonly retainDays: number | null;
  /** Ids that were there already, and are no part of what is added. */
  readonly there: readonly string[];
  /** The newest lead, where leads without a time are to follow it; undefined where none is. */
  readonly newestMs: number | null | undefined;
}

export interface Plan {
  readonly outcomes: readonly ImportOutcome[];
  readonly added: readonly PlannedLead[];
  readonly replaced: readonly PlannedLead[];
  readonly premises: Premises;
}

export interface Planner {
  /** The outcomes of some leads; or the ids of pixels that have to be made first. */
  plan(leads: readonly NewLead[], placing: Placing): Plan | { readonly pixels: readonly string[] };
}

export function openPlanner(database: Connection, account: AccountNumber, options: ImportOptions): Planner {
  const file = readFile(database, account);
  /** The newest lead that there was before the first one of this import. */
  let newestBefore: number | null = null;

  return {
    plan(leads, placing) {
      file.guard.refresh(placing.nowMs);
      const newest = file.newest();
      newestBefore ??= newest ?? Number.NEGATIVE_INFINITY;
      const draft = openDraft(file, options, placing, { newest, newestBefore });
      const outcomes = leads.map(draft.decide);
      if (draft.missingPixels.size > 0) return { pixels: [...draft.missingPixels] };
      const needsNewest = leads.some(({ identifiedMs }) => identifiedMs === null);
      return {
        outcomes,
        added: [...draft.added.values()],
        replaced: [...draft.replaced.values()],
        premises: { ...file.rules(), there: [...draft.there], newestMs: needsNewest ? newest : undefined },
      };
    },
  };
}

/** What a plan asks of the file. */
function readFile(database: Connection, account: AccountNumber) {
  const { momentOf, firstFree, newest } = prepareImport(database, account);
  const at = positionOf(sql`${account}`, placeholder.integer("ms"));
  const one = database.select({ one: sql`1` }).from(stored).where(eq(stored.position, at)).prepare();
  const pixel = database.select({ number: pixels.number }).from(pixels).where(pixelOfAccount).prepare();
  const blocked = (table: typeof suppressions | typeof suppressedDigests) =>
    database.select({ count: count() }).from(table).where(eq(table.account, account)).get()?.count ?? 0;
  const keeping = database
    .select({ days: accounts.retainDays })
    .from(accounts)
    .where(and(eq(accounts.number, account)));
  return {
    guard: openGuard(database, account),
    momentOf,
    firstFree,
    newest,
    isTaken: (ms: number) => one.values({ ms }).length > 0,
    pixel: (pixelId: string) => pixel.values({ account, pixelId })[0]?.[0] ?? null,
    rules: () => ({
      blocks: blocked(suppressions) + blocked(suppressedDigests),
      retainDays: keeping.get()?.days ?? null,
    }),
  };
}

/** A plan as it grows: each lead sees those that were decided before it. */
function openDraft(
  file: ReturnType<typeof readFile>,
  options: ImportOptions,
  placing: Placing,
  before: { readonly newest: number | null; readonly newestBefore: number },
) {
  const added = new Map<string, PlannedLead>();
  const replaced = new Map<string, PlannedLead>();
  const there = new Set<string>();
  const missingPixels = new Set<string>();
  const taken = new Set<number>();
  let newest = before.newest ?? Number.NEGATIVE_INFINITY;
  /** The last lead that was moved: all from the moment it asked for to the one it got are taken. */
  let moved = { from: 0, to: Number.NEGATIVE_INFINITY };

  function firstFreeFrom(wanted: number): number {
    let at = wanted >= moved.from && wanted <= moved.to ? moved.to + 1 : wanted;
    while (taken.has(at) || file.isTaken(at)) at = taken.has(at) ? at + 1 : file.firstFree(at);
    if (at !== wanted) moved = { from: wanted, to: at };
    taken.add(at);
    return at;
  }

  function at(lead: NewLead, pixel: number, atMs: number): PlannedLead {
    const { id, state, cityKey, hasEmail, document } = lead;
    return { id, atMs, pixel, state, cityKey, hasEmail, doc: moveDocument(document, writeMoment(atMs)) };
  }

  function ofThereAlready(lead: NewLead, pixel: number | null, atMs: number): ImportOutcome {
    const isOfThisPlan = added.has(lead.id);
    if (!isOfThisPlan) there.add(lead.id);
    if (options.onDuplicate === "skip" || pixel === null) return { kind: "duplicate" };
    (isOfThisPlan ? added : replaced).set(lead.id, at(lead, pixel, atMs));
    return { kind: "replaced" };
  }

  function decide(lead: NewLead): ImportOutcome {
    const objection = file.guard.objection(lead);
    if (objection !== null) return objection;
    const pixel = file.pixel(lead.pixelId);
    const knownMs = added.get(lead.id)?.atMs ?? file.momentOf(lead.id);
    const mayStay = knownMs !== null && options.onDuplicate === "skip";
    if (pixel === null && !mayStay) {
      if (options.createPixels) missingPixels.add(lead.pixelId);
      return { kind: "rejected", why: "unknown pixel" };
    }
    if (knownMs !== null) return ofThereAlready(lead, pixel, knownMs);
    const wanted = lead.identifiedMs ?? Math.max(placing.stampMs, newest + 1);
    const atMs = firstFreeFrom(wanted);
    newest = Math.max(newest, atMs);
    added.set(lead.id, at(lead, pixel ?? 0, atMs));
    const isMoved = lead.identifiedMs !== null && atMs !== wanted;
    return { kind: "imported", atMs, moved: isMoved, late: atMs < before.newestBefore };
  }

  return { decide, added, replaced, there, missingPixels };
}
