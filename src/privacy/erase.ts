/** Erases persons: removes their leads and their bytes, blocks them, and keeps a receipt of each. */
import { and, eq, gt, isNotNull, max, sum } from "drizzle-orm";
import type { Lead } from "../contract/lead.ts";
import type { PersonIdentifier } from "../contract/person.ts";
import { writeMoment } from "../contract/time.ts";
import { insertAct } from "../db/audit.ts";
import { type Connection, changedExactly, type LeadDatabase, type Statement, WriteRefused } from "../db/connection.ts";
import { imports, leads, receipts } from "../db/schema.ts";
import { filterStatements } from "./disclosures/ledger.ts";
import { arrivedLead } from "./disclosures/recipients.ts";
import { type FoundLeads, findLeads, type OnRead, openLeadAt, type StoredLead } from "./find.ts";
import {
  blockedWith,
  countPeople,
  distinct,
  identifiersIn,
  identifiersOf,
  isOf,
  type PersonReference,
} from "./identifiers.ts";
import { createMatcher, type Matcher, type Wanted } from "./mentions.ts";
import { completeThese, findPending, identityOf, type Receipt, storeReceipt } from "./receipts.ts";
import { residueStatement } from "./retention.ts";
import {
  blockDigest,
  blockHash,
  hashOf,
  listInstances,
  openSuppressions,
  type SuppressedAccount,
} from "./suppressions.ts";

/** A transaction has at most this many persons and, unless one person has more, this many leads. */
const personsAtOnce = 100;
const leadsAtOnce = 500;
/** A transaction is tried again if somebody else has changed a lead that it removes. */
const maxTries = 50;

/** One person who was erased. */
export interface ErasedPerson {
  /** The place in the list. */
  readonly place: number;
  readonly erased: number;
  /** How many different people the erased leads named: more than one if they share a phone. */
  readonly people: number;
  /** The identity of the stored receipt. */
  readonly identity: Buffer;
}

/** Leads that stay after an erasure, by their IDs. */
export interface Staying {
  /** They have a blocked address, phone, or ID as their own, so an import would leave them out. */
  readonly blocked: readonly string[];
  /** They only mention it, such as in page_url. */
  readonly mentioning: readonly string[];
}

export interface ErasureOptions {
  /** Also erases leads of others that hold an identifier of a person, such as in the address of a page. */
  readonly withMentions: boolean;
  readonly onRead: OnRead;
}

/** Erases persons. Nothing is erased before the first step is asked for. */
export class Erasure {
  readonly #done = new Map<number, ErasedPerson>();
  /** Leads that mention a person and stay: their IDs by their timestamps. */
  readonly #staying = new Map<number, string>();
  /** Everything that names the persons, as far as it can be looked for in texts. */
  readonly #named: Wanted<number>[];

  constructor(
    readonly database: LeadDatabase,
    readonly account: SuppressedAccount,
    readonly references: readonly PersonReference[],
    readonly options: ErasureOptions,
    readonly nowMs: number,
  ) {
    this.#named = references.flatMap((one, owner) => identifiersIn(one).map((given) => ({ ...given, owner })));
  }

  /** Each step erases and blocks some persons, and gives how many are done. What it has done is on the disk. */
  async *steps(): AsyncGenerator<number> {
    const { database, account, references, options } = this;
    await database.catchUp();
    const importsBefore = importsWritten(database.read, account.number);
    const found = findLeads(database.read, account.number, references, options.onRead);
    yield* this.#eraseFound([...references.keys()], found);
    // Everybody is blocked by now. But an import that ran at the same time may have added leads behind the search.
    await database.catchUp();
    if (Bun.deepEquals(importsWritten(database.read, account.number), importsBefore)) return;
    const again = findLeads(database.read, account.number, references, options.onRead, found.further);
    const mentioned = options.withMentions ? again.mentions.keys() : [];
    this.#noteStaying([...again.mentions.values()]);
    yield* this.#eraseFound([...new Set([...again.own.keys(), ...mentioned])], again);
  }

  /** The persons that were erased so far, by their places. */
  get persons(): ErasedPerson[] {
    return [...this.#done.values()].toSorted((one, other) => one.place - other.place);
  }

  /**
   * Completes the receipts by who received the leads, and removes the persons from filters of the ledger. Call it when the
   * servers have noted their last pages.
   */
  async complete(): Promise<void> {
    const { database } = this;
    await database.catchUp();
    const identities = this.persons.map(({ identity }) => identity);
    await completeThese(database, identities);
    const filters = filterStatements(database.read, this.matcher);
    if (filters.length > 0) await database.write(filters);
  }

  /** The leads that stay though they hold an identifier of an erased person. */
  get staying(): Staying {
    return tellStaying(this.database.read, this.account, this.#staying);
  }

  /** Finds the erased persons in other texts. */
  get matcher(): Matcher<number> {
    return createMatcher(this.#named);
  }

  async *#eraseFound(places: readonly number[], found: FoundLeads): AsyncGenerator<number> {
    for (const some of inGroups(places, found, this.options.withMentions)) {
      await this.#eraseSome(some, found);
      yield this.#done.size;
    }
  }

  /** Erases some persons in one transaction. Leads are read anew, because somebody may have changed them since. */
  async #eraseSome(places: readonly number[], found: FoundLeads): Promise<void> {
    const { database, account, references, nowMs } = this;
    for (let tries = 1; ; tries++) {
      const removals = this.#planRemovals(places, found);
      const erased = removals.reduce((sum, { leads }) => sum + leads.length, 0);
      const detail = { ...detailOf(references, places.length), erased };
      const act = insertAct(database.read, { atMs: nowMs, act: "lead.erase", account: account.id, detail });
      const residue = erased > 0 ? [residueStatement(database.read)] : [];
      try {
        await database.write([...removals.flatMap(({ statements }) => statements), ...residue, act], "everywhere");
        for (const removal of removals) this.#noteRemoval(removal);
        this.#noteStaying(places.map((place) => found.mentions.get(place) ?? new Map()));
        return;
      } catch (cause) {
        if (!(cause instanceof WriteRefused) || tries === maxTries) throw cause;
        await database.catchUp();
      }
    }
  }

  #planRemovals(places: readonly number[], found: FoundLeads): (Removal & { readonly place: number })[] {
    const remove = openRemoval(this.database.read, this.account, this.nowMs);
    const gone = new Set<number>();
    return places.map((place) => {
      const own = (found.own.get(place) ?? []).filter((ms) => !gone.has(ms));
      const mentions = this.options.withMentions ? [...(found.mentions.get(place) ?? [])] : [];
      const others = mentions.filter(([ms]) => !gone.has(ms));
      const removal = remove(this.references[place], own, others, this.#done.get(place)?.identity);
      for (const { lead } of removal.leads) gone.add(Date.parse(lead.identified_at));
      return { place, ...removal };
    });
  }

  #noteRemoval({ place, leads, people, identity }: Removal & { readonly place: number }): void {
    const before = this.#done.get(place);
    const erased = (before?.erased ?? 0) + leads.length;
    this.#done.set(place, { place, erased, people: Math.max(before?.people ?? 0, people), identity });
    this.#named.push(...leads.flatMap(({ lead }) => identifiersOf(lead)).map((one) => ({ ...one, owner: place })));
  }

  #noteStaying(mentions: readonly ReadonlyMap<number, string>[]): void {
    if (this.options.withMentions) return;
    for (const [ms, id] of mentions.flatMap((some) => [...some])) this.#staying.set(ms, id);
  }
}

/** Groups of persons for one transaction each. */
function* inGroups(places: readonly number[], found: FoundLeads, withMentions: boolean): Generator<number[]> {
  let group: number[] = [];
  let leads = 0;
  for (const place of places) {
    group.push(place);
    leads += (found.own.get(place)?.length ?? 0) + (withMentions ? (found.mentions.get(place)?.size ?? 0) : 0);
    if (group.length < personsAtOnce && leads < leadsAtOnce) continue;
    yield group;
    group = [];
    leads = 0;
  }
  if (group.length > 0) yield group;
}

interface Removal {
  readonly leads: readonly StoredLead[];
  readonly people: number;
  readonly identity: Buffer;
  readonly statements: readonly Statement[];
}

/** Prepares what removes one person after the other within a transaction. */
function openRemoval(database: Connection, account: SuppressedAccount, nowMs: number) {
  const [instance] = listInstances(database);
  if (instance === undefined) throw new Error("the file has no key to hash with");
  const leadAt = openLeadAt(database, account.number);
  const rejectsFiles = listRejectsFiles(database, account.number);
  const hashesOf = (identifiers: readonly PersonIdentifier[]) =>
    distinct(identifiers).map((one) => hashOf(instance, account.id, one).toString("hex"));

  return (
    reference: PersonReference | undefined,
    own: readonly number[],
    mentions: readonly (readonly [ms: number, id: string])[],
    earlier: Buffer | undefined,
  ): Removal => {
    if (reference === undefined) throw new Error("a place of a list without a person");
    const theirs = own.flatMap(leadAt).filter(({ lead }) => isOf(lead, reference));
    const others = mentions.flatMap(([ms, id]) => leadAt(ms).filter(({ lead }) => lead.id === id));
    const removed = [...theirs, ...others];
    const { kind, value } = reference;
    const given = identifiersIn(reference);
    const idOf = ({ lead }: StoredLead): PersonIdentifier => ({ kind: "id", value: lead.id });
    // Of leads that only mention the person, the IDs are blocked: their own persons may come again.
    const blocked = [...given, ...theirs.flatMap(({ lead }) => blockedWith(reference, lead)), ...others.map(idOf)];
    const before = earlier === undefined ? null : findPending(database, earlier);
    const receipt: Receipt = {
      erased_at: writeMoment(nowMs),
      account: account.id,
      instance: instance.id,
      hashes: [...new Set([...(before?.receipt.hashes ?? []), ...hashesOf(blocked)])],
      given: hashesOf(given),
      removed: [...(before?.receipt.removed ?? []), ...hashesOf(removed.map(idOf))],
      digests: kind === "digest" ? [value] : [],
      received: [],
      gaps: [],
      rejects_files: rejectsFiles,
    };
    const arrived = [...(before?.removed ?? []), ...removed.map(({ lead, batch }) => arrivedLead(lead, batch))];
    return {
      leads: removed,
      people: countPeople(theirs.map(({ lead }) => lead)),
      identity: identityOf(receipt),
      statements: [
        ...removed.flatMap(({ lead, doc }) => removalOf(database, account.number, lead, doc)),
        ...receipt.hashes.map((hash) => blockHash(database, account, instance, Buffer.from(hash, "hex"), nowMs)),
        ...receipt.digests.map((digest) => blockDigest(database, account, Buffer.from(digest, "hex"), nowMs)),
        ...(earlier === undefined ? [] : [database.delete(receipts).where(eq(receipts.identity, earlier))]),
        storeReceipt(database, account.number, receipt, arrived),
      ],
    };
  };
}

/** The statements that delete a lead as it was read, and fail if somebody has changed it since. */
function removalOf(database: Connection, account: number, lead: Lead, doc: string): Statement[] {
  const at = and(eq(leads.account, account), eq(leads.identifiedAt, Date.parse(lead.identified_at)));
  return [database.delete(leads).where(and(at, eq(leads.doc, doc))), changedExactly(1)];
}

/** How persons were named, for the record of what was done. */
export function detailOf(persons: readonly PersonReference[], count: number): Record<string, string | number> {
  const [one] = persons;
  return persons.length === 1 && one !== undefined ? { by: one.kind } : { by: "list", persons: count };
}

/** What an import writes with each transaction: a row of its own, and then more that it has read. */
function importsWritten(database: Connection, account: number) {
  const written = { last: max(imports.number), read: sum(imports.read) };
  return database.select(written).from(imports).where(eq(imports.account, account)).get();
}

function listRejectsFiles(database: Connection, account: number): string[] {
  const written = and(eq(imports.account, account), isNotNull(imports.rejectsFile), gt(imports.rejected, 0));
  const rows = database.selectDistinct({ file: imports.rejectsFile }).from(imports).where(written).all();
  return rows.flatMap(({ file }) => (file === null ? [] : [file])).toSorted();
}

/** Tells those that an import would leave out from now on from those that only mention a person. */
function tellStaying(database: Connection, account: SuppressedAccount, held: ReadonlyMap<number, string>): Staying {
  const leadAt = openLeadAt(database, account.number);
  const isBlocked = openSuppressions(database, account);
  const staying = [...held].flatMap(([ms, id]) => leadAt(ms).filter(({ lead }) => lead.id === id));
  const { blocked = [], mentioning = [] } = Object.groupBy(staying, ({ lead }) =>
    isBlocked(identifiersOf(lead)) ? "blocked" : "mentioning",
  );
  return { blocked: blocked.map(({ lead }) => lead.id), mentioning: mentioning.map(({ lead }) => lead.id) };
}
