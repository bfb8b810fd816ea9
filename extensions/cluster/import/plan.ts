/**
 * What is to become of some leads, by the rules of a file. It is decided from the file of the own node, and not written
 * yet. Somebody else may write first, so a plan says what it relies on.
 */
import { and, count, eq, sql } from "drizzle-orm";
import type { AccountNumber } from "../../../src/db/accounts.ts";
import type { Connection } from "../../../src/db/connection.ts";
import { placeholder } from "../../../src/db/placeholder.ts";
import { accounts, leads as stored, suppressedDigests, suppressions } from "../../../src/db/schema.ts";
import type { ImportOptions, ImportOutcome, NewLead } from "../../../src/import/new-lead.ts";
import {
  type Destination,
  openDestination,
  openLeadWriter,
  type WriteContext,
} from "../../../src/import/write/lead-writer.ts";
import type { Place, Placed } from "../../../src/import/write/stored-leads.ts";
import { countUnblockings } from "../../../src/privacy/suppressions.ts";

/** A lead at its moment, as its columns have it. */
export interface PlannedLead extends Placed, Pick<NewLead, "id" | "state" | "cityKey" | "hasEmail"> {}

/** What must still hold when the plan is written. */
export interface Premises {
  /** How many hashes and digests the account keeps out. */
  readonly blocks: number;
  /** How often blocks were lifted: one that is lifted and another one made are as many as before. */
  readonly unblockings: number;
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
  plan(leads: readonly NewLead[], context: WriteContext): Plan | { readonly pixels: readonly string[] };
}

/** Plans for one import: what is late is told by the newest lead that others have brought before each plan. */
export function openPlanner(database: Connection, account: AccountNumber, options: ImportOptions): Planner {
  const file = openDestination(database, account);
  const isTaken = openTaken(database, account);
  const draft = openDraft(file, isTaken);
  const writer = openLeadWriter(draft, options);
  return {
    plan(leads, context) {
      // Read before a lead is looked at: what somebody changes meanwhile makes the plan unfit.
      const rules = readRules(database, account);
      const newest = file.leads.newest()?.at ?? null;
      draft.clear();
      writer.begin(context);
      const outcomes = leads.map(writer.write);
      const { added, replaced, there, missingPixels } = draft;
      if (missingPixels.size > 0) return { pixels: [...missingPixels] };
      const needsNewest = leads.some(({ identifiedMs }) => identifiedMs === null);
      return {
        outcomes,
        added: [...added.values()],
        replaced: [...replaced.values()],
        premises: { ...rules, there: [...there.keys()], newestMs: needsNewest ? newest : undefined },
      };
    },
  };
}

function readRules(database: Connection, account: AccountNumber) {
  const blocked = (table: typeof suppressions | typeof suppressedDigests) =>
    database.select({ count: count() }).from(table).where(eq(table.account, account)).get()?.count ?? 0;
  const keeping = database.select({ days: accounts.retainDays }).from(accounts).where(eq(accounts.number, account));
  return {
    blocks: blocked(suppressions) + blocked(suppressedDigests),
    unblockings: countUnblockings(database),
    retainDays: keeping.get()?.days ?? null,
  };
}

/** Prepares the look whether a moment of an account is taken. */
function openTaken(database: Connection, account: AccountNumber): (ms: number) => boolean {
  const at = and(eq(stored.account, account), eq(stored.identifiedAt, placeholder.integer("ms")));
  const one = database.select({ one: sql`1` }).from(stored).where(at).prepare();
  return (ms) => one.values({ ms }).length > 0;
}

/** A file as it will be when the plan is written. It grows with each lead, which sees those that were decided before it. */
interface Draft extends Destination {
  readonly added: ReadonlyMap<string, PlannedLead>;
  readonly replaced: ReadonlyMap<string, PlannedLead>;
  /** What the file has of the ids that were asked for. */
  readonly there: ReadonlyMap<string, Place>;
  readonly missingPixels: ReadonlySet<string>;
  clear(): void;
}

function openDraft({ leads: file, pixels, guard }: Destination, isTaken: (ms: number) => boolean): Draft {
  const added = new Map<string, PlannedLead>();
  const replaced = new Map<string, PlannedLead>();
  const moments = new Set<number>();
  const there = new Map<string, Place>();
  const missingPixels = new Set<string>();

  function find(id: string): Place | null {
    // Each is looked for once: somebody else may take it out of the file meanwhile.
    const known = added.get(id) ?? there.get(id);
    if (known !== undefined) return known;
    const found = file.find(id);
    if (found !== null) there.set(id, found);
    return found;
  }

  return {
    leads: {
      newest: file.newest,
      emailAt: file.emailAt,
      find,
      firstFree: (ms) => (moments.has(ms) ? ms + 1 : file.firstFree(ms)),
      insert({ id, state, cityKey, hasEmail }, placed) {
        const { at } = placed;
        if (find(id) !== null || moments.has(at) || isTaken(at)) return false;
        moments.add(at);
        added.set(id, { id, state, cityKey, hasEmail, ...placed });
        return true;
      },
      replace({ id, state, cityKey, hasEmail }, placed) {
        (added.has(id) ? added : replaced).set(id, { id, state, cityKey, hasEmail, ...placed });
      },
    },
    pixels: {
      find: pixels.find,
      make(id) {
        missingPixels.add(id);
        return 0;
      },
      forget: pixels.forget,
    },
    guard,
    ...{ added, replaced, there, missingPixels },
    clear() {
      for (const each of [added, replaced, moments, there, missingPixels]) each.clear();
    },
  };
}
