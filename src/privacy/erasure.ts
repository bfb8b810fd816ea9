/** Erases persons in steps, and then removes what is left of them in the bytes of the file. */
import { eq, max, sum } from "drizzle-orm";
import type { Lead } from "../contract/lead.ts";
import { recordAct } from "../db/audit.ts";
import type { Connection } from "../db/connection.ts";
import type { Descriptors } from "../db/file.ts";
import { imports } from "../db/schema.ts";
import type { Erased, Erasure, HowToErase, PersonReference } from "../store/privacy.ts";
import type { Account } from "../store/repositories.ts";
import { type Gone, momentsOf, openErasing, withRecipients } from "./erase-person.ts";
import { type FoundLeads, findLeads } from "./find-leads.ts";
import { collectingGarbage } from "./garbage-collection.ts";
import { formsOf, type Named, type Wanted, wantedOf } from "./search/forms.ts";
import { mostLookedFor, removeTraces } from "./search/traces.ts";
import { tellStaying } from "./staying.ts";
import { openTraces } from "./traces-left.ts";

/** A transaction ends after this time, so that no other writer waits longer. A person is never split. */
const transactionMs = 100;
/** A kill between the commit and the output loses the receipts of at most this many persons; beside a server, of more. */
const personsAtOnce = 500;
const stepsUntilCollected = 20;

const ignore = () => undefined;

/** Nothing is erased before the first step is asked for. */
export function startErasure(
  database: Connection,
  descriptors: Descriptors,
  account: Account,
  persons: readonly PersonReference[],
  { withMentions, onRead = ignore, notedWithinMs = 0 }: HowToErase,
  nowMs: number,
): Erasure {
  const left = openTraces(database);
  const removed = createRemoved();
  const erasePerson = openErasing(database, account);

  /** `gone` has the moments of what the transaction has deleted: on a cluster it still reads them. */
  function eraseOne(place: number, found: FoundLeads, gone: Set<number>): Gone[] {
    const reference = persons[place];
    if (reference === undefined) return [];
    const own = (found.own.get(place) ?? []).filter((ms) => !gone.has(ms));
    const mentions = new Map([...(found.mentions.get(place) ?? [])].filter(([ms]) => !gone.has(ms)));
    if (!withMentions) removed.mention(mentions);
    const one = erasePerson(reference, { own, mentions: withMentions ? mentions : new Map() }, nowMs);
    const leads = one.gone.map(({ lead }) => lead);
    removed.take(reference, leads);
    for (const { identified_at: at } of leads) gone.add(Date.parse(at));
    return [{ place, ...one }];
  }

  function eraseSome(places: readonly number[], found: FoundLeads): Gone[] {
    const gone = new Set<number>();
    const done = eraseForAWhile(places, (place) => eraseOne(place, found, gone));
    const detail = { ...detailOf(persons, done.length), erased: momentsOf(done).length };
    if (gone.size > 0) left.note();
    recordAct(database, { atMs: nowMs, act: "lead.erase", account: account.id, detail });
    return done;
  }

  function* eraseFound(places: readonly number[], found: FoundLeads): Generator<readonly Erased[]> {
    const erase = (those: readonly number[]) =>
      database.transaction(() => eraseSome(those, found), { behavior: "immediate" });
    for (const some of inSteps(places, erase, notedWithinMs)) {
      yield withRecipients(database, account.number, some, nowMs);
    }
  }

  return {
    *steps() {
      const importsBefore = watchImports(database, account.number);
      const found = findLeads(database, account.number, persons, onRead);
      yield* collectingGarbage(eraseFound([...persons.keys()], found), stepsUntilCollected);
      // Everybody is blocked by now. But an import that ran meanwhile may have added leads behind the search.
      if (!importsBefore.haveWritten()) return;
      const again = findLeads(database, account.number, persons, onRead, found);
      if (!withMentions) for (const mentions of again.mentions.values()) removed.mention(mentions);
      const places = new Set([...again.own.keys(), ...(withMentions ? again.mentions.keys() : [])]);
      yield* eraseFound([...places], again);
    },
    staying: () => tellStaying(database, account, removed.mentions),
    removeTraces(onLook) {
      // What the last erasure has deleted is not known any more, so it cannot be looked for.
      const mustRewrite = left.wereLeft || removed.isTooMany();
      const traces = removeTraces(database, removed.wanted(), descriptors, mustRewrite, onLook);
      if (traces.gone) left.forget();
      return traces;
    },
  };
}

/** Each step waits at its end, for all who go in one transaction, or in as many as fit into such a time. */
function* inSteps(
  places: readonly number[],
  erase: (some: readonly number[]) => Gone[],
  waitMs: number,
): Generator<readonly Gone[]> {
  for (let next = 0; next < places.length; ) {
    const endMs = performance.now() + waitMs;
    const gone: Gone[] = [];
    do {
      const done = erase(places.slice(next, next + personsAtOnce));
      gone.push(...done);
      next += done.length;
    } while (next < places.length && performance.now() < endMs);
    if (momentsOf(gone).length > 0) Bun.sleepSync(waitMs);
    yield gone;
  }
}

/** Erases one after the other until the time of a transaction is up, and one at least. */
function eraseForAWhile(places: readonly number[], eraseOne: (place: number) => Gone[]): Gone[] {
  const done: Gone[] = [];
  const endMs = performance.now() + transactionMs;
  for (const place of places) {
    if (done.length > 0 && performance.now() > endMs) break;
    done.push(...eraseOne(place));
  }
  return done;
}

/** How persons were named, for the record of what was done. */
export function detailOf(persons: readonly PersonReference[], count: number): Record<string, string | number> {
  const [one] = persons;
  return persons.length === 1 && one !== undefined ? { by: one.kind } : { by: "list", persons: count };
}

/** What is kept of an erased lead, to look for its bytes. */
function naming({ id, name, email, verified_email, phone }: Lead): Named {
  return { id, name, email, verified_email, phone };
}

/** What was erased, as far as its bytes are looked for afterwards. */
function createRemoved() {
  const references: PersonReference[] = [];
  const lookedFor: Named[] = [];
  const mentions = new Map<number, string>();
  let leads = 0;
  return {
    mentions,
    mention(found: ReadonlyMap<number, string>): void {
      for (const [ms, id] of found) mentions.set(ms, id);
    },
    take(reference: PersonReference, gone: readonly Lead[]): void {
      references.push(reference);
      leads += gone.length;
      if (leads <= mostLookedFor) lookedFor.push(...gone.map(naming));
    },
    isTooMany: () => leads > mostLookedFor,
    /** One after the other: those of a long list would fill the memory. */
    *wanted(): Generator<Wanted> {
      for (const lead of lookedFor) yield* wantedOf(lead);
      for (const { kind, value } of references) if (kind !== "digest") yield { kind, forms: formsOf({ kind, value }) };
    },
  };
}

/** Whether an import of the account has written anything since this was called. */
function watchImports(database: Connection, account: number): { haveWritten(): boolean } {
  // What an import writes with each transaction: a row of its own, and then more that it has read.
  const written = () =>
    database
      .select({ last: max(imports.number), read: sum(imports.read) })
      .from(imports)
      .where(eq(imports.account, account))
      .get();
  const before = written();
  return { haveWritten: () => !Bun.deepEquals(written(), before) };
}
