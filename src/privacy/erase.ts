/** Erases persons: removes their leads, blocks them, and stores a receipt of each. */
import { and, eq, gt, isNotNull, max, sum } from "drizzle-orm";
import type { PersonIdentifier } from "../contract/person.ts";
import { writeMoment } from "../contract/time.ts";
import { insertAct } from "../db/audit.ts";
import { type Connection, changedExactly, type LeadDatabase, type Statement, WriteRefused } from "../db/connection.ts";
import { imports, leads, receipts } from "../db/schema.ts";
import { filterStatements } from "./disclosures/ledger.ts";
import { arrivedLead } from "./disclosures/recipients.ts";
import { detailOf, type FoundLeads, findLeads, type OnRead, openLeadAt, type StoredLead } from "./find.ts";
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
import { completeThese, findPending, findReceipt, identityOf, type Receipt, storeReceipt } from "./receipts.ts";
import { residueStatement } from "./retention.ts";
import { blockStatements, hashOf, listInstances, openSuppressions, type SuppressedAccount } from "./suppressions.ts";

/** A transaction has at most this many persons and, unless one person has more, this many leads. */
const personsAtOnce = 100;
const leadsAtOnce = 500;
/** A transaction is tried again if somebody else has changed a lead that it removes. */
const maxTries = 50;

/** One person who was erased. */
export interface ErasedPerson {
  readonly person: PersonReference;
  readonly erased: number;
  /** The number of different people whom the erased leads named: more than one if they share a phone. */
  readonly people: number;
  /** The stored receipt. */
  readonly receipt: string;
}

/** Leads that stay after an erasure, by their IDs. */
export interface Staying {
  /** They have a blocked address, phone, or ID as their own, so an import would leave them out. */
  readonly blocked: readonly string[];
  /** They only mention it, such as in page_url. */
  readonly mentioning: readonly string[];
}

export interface ErasureOptions {
  /** Also erases leads of others that contain an identifier of a person, such as in the address of a page. */
  readonly withMentions: boolean;
  readonly onRead: OnRead;
}

/** Erases persons. Nothing is erased before the first step is asked for. */
export class Erasure {
  readonly #done = new Map<PersonReference, Pick<Removal, "people" | "identity"> & { readonly erased: number }>();
  /** Leads that mention a person and stay: their IDs by their timestamps. */
  readonly #staying = new Map<number, string>();
  /** Everything that names the persons, as far as texts can be searched for it. */
  readonly #named: Wanted<PersonReference>[];

  constructor(
    readonly database: LeadDatabase,
    readonly account: SuppressedAccount,
    readonly references: readonly PersonReference[],
    readonly options: ErasureOptions,
    readonly nowMs: number,
  ) {
    this.#named = references.flatMap((owner) => identifiersIn(owner).map((given) => ({ ...given, owner })));
  }

  /** Each step erases and blocks some persons, durably, and yields how many are done. */
  async *steps(): AsyncGenerator<number> {
    const { database, account, references, options } = this;
    await database.catchUp();
    const importsBefore = importsWritten(database.read, account.number);
    const found = findLeads(database.read, account.number, references, options.onRead);
    yield* this.#eraseFound(references, found);
    // Everybody is blocked by now. But an import that ran at the same time may have added leads behind the search.
    await database.catchUp();
    if (Bun.deepEquals(importsWritten(database.read, account.number), importsBefore)) return;
    const again = findLeads(database.read, account.number, references, options.onRead, found.further);
    const mentioned = options.withMentions ? again.mentions.keys() : [];
    this.#addStaying([...again.mentions.values()]);
    yield* this.#eraseFound([...new Set([...again.own.keys(), ...mentioned])], again);
  }

  /** Leads were removed. */
  get hasRemoved(): boolean {
    return this.#done.values().some(({ erased }) => erased > 0);
  }

  /**
   * Completes the receipts by who received the leads, removes the persons from filters of the ledger, and returns the persons
   * that were erased so far, in their order. Call it when the servers have recorded their last pages.
   */
  async complete(): Promise<ErasedPerson[]> {
    const { database } = this;
    const done = [...this.#done];
    await database.catchUp();
    await completeThese(
      database,
      done.map(([, { identity }]) => identity),
    );
    const filters = filterStatements(database.read, this.matcher);
    if (filters.length > 0) await database.write(filters);
    return done.map(([person, { erased, people, identity }]) => {
      return { person, erased, people, receipt: findReceipt(database.read, identity) ?? "{}" };
    });
  }

  /** The leads that stay although they contain an identifier of an erased person. */
  get staying(): Staying {
    const { read } = this.database;
    const isBlocked = openSuppressions(read, this.account);
    const staying = leadsAt(read, this.account, this.#staying);
    const idsOf = (those: boolean) =>
      staying.filter(({ lead }) => isBlocked(identifiersOf(lead)) === those).map(({ lead }) => lead.id);
    return { blocked: idsOf(true), mentioning: idsOf(false) };
  }

  /** Finds the erased persons in other texts. */
  get matcher(): Matcher<PersonReference> {
    return createMatcher(this.#named);
  }

  async *#eraseFound(persons: readonly PersonReference[], found: FoundLeads): AsyncGenerator<number> {
    for (const some of inGroups(persons, found, this.options.withMentions)) {
      await this.#eraseSome(some, found);
      yield this.#done.size;
    }
  }

  /** Erases some persons in one transaction. Leads are read anew, because somebody may have changed them since. */
  async #eraseSome(persons: readonly PersonReference[], found: FoundLeads): Promise<void> {
    const { database, account, references, nowMs } = this;
    for (let tries = 1; ; tries++) {
      const removals = this.#planRemovals(persons, found);
      const erased = removals.reduce((sum, { leads }) => sum + leads.length, 0);
      const detail = { ...detailOf(references, persons.length), erased };
      const act = insertAct(database.read, { atMs: nowMs, act: "lead.erase", account: account.id, detail });
      const residue = erased > 0 ? [residueStatement(database.read)] : [];
      try {
        await database.write([...removals.flatMap(({ statements }) => statements), ...residue, act], "everywhere");
      } catch (cause) {
        if (!(cause instanceof WriteRefused) || tries === maxTries) throw cause;
        await database.catchUp();
        continue;
      }
      for (const removal of removals) this.#addDone(removal);
      return this.#addStaying(persons.map((person) => found.mentions.get(person) ?? new Map()));
    }
  }

  #planRemovals(persons: readonly PersonReference[], found: FoundLeads): Removal[] {
    const { account, options, nowMs } = this;
    const { read } = this.database;
    const leadAt = openLeadAt(read, account.number);
    const planRemoval = openRemoval(read, account, nowMs);
    const gone = new Set<string>();
    return persons.map((person) => {
      const own = (found.own.get(person) ?? []).flatMap(leadAt).filter(({ lead }) => isOf(lead, person));
      const others = options.withMentions ? leadsAt(read, account, found.mentions.get(person) ?? new Map()) : [];
      // An earlier person may have the same leads.
      const isLeft = ({ lead }: StoredLead) => !gone.has(lead.id);
      const earlier = this.#done.get(person)?.identity;
      const removal = planRemoval(person, own.filter(isLeft), others.filter(isLeft), earlier);
      for (const { lead } of removal.leads) gone.add(lead.id);
      return removal;
    });
  }

  #addDone({ person, leads, people, identity }: Removal): void {
    const before = this.#done.get(person) ?? { erased: 0, people: 0 };
    const erased = before.erased + leads.length;
    this.#done.set(person, { erased, people: Math.max(before.people, people), identity });
    this.#named.push(...leads.flatMap(({ lead }) => identifiersOf(lead)).map((one) => ({ ...one, owner: person })));
  }

  #addStaying(mentions: readonly ReadonlyMap<number, string>[]): void {
    if (this.options.withMentions) return;
    for (const [ms, id] of mentions.flatMap((some) => [...some])) this.#staying.set(ms, id);
  }
}

/** Reads leads by their timestamps, unless another lead has taken the place. */
function leadsAt(database: Connection, account: SuppressedAccount, ids: ReadonlyMap<number, string>): StoredLead[] {
  const leadAt = openLeadAt(database, account.number);
  return [...ids].flatMap(([ms, id]) => leadAt(ms).filter(({ lead }) => lead.id === id));
}

/** Splits persons into groups for one transaction each. */
function* inGroups(
  persons: readonly PersonReference[],
  found: FoundLeads,
  withMentions: boolean,
): Generator<PersonReference[]> {
  let group: PersonReference[] = [];
  let leads = 0;
  for (const person of persons) {
    group.push(person);
    leads += (found.own.get(person)?.length ?? 0) + (withMentions ? (found.mentions.get(person)?.size ?? 0) : 0);
    if (group.length < personsAtOnce && leads < leadsAtOnce) continue;
    yield group;
    group = [];
    leads = 0;
  }
  if (group.length > 0) yield group;
}

interface Removal {
  readonly person: PersonReference;
  readonly leads: readonly StoredLead[];
  readonly people: number;
  readonly identity: Buffer;
  readonly statements: readonly Statement[];
}

/** Prepares the removal of one person after the other: the own leads, those of others, and an earlier receipt to extend. */
function openRemoval(database: Connection, account: SuppressedAccount, nowMs: number) {
  const [instance] = listInstances(database);
  if (instance === undefined) throw new Error("the file has no key to hash with");
  const rejectsFiles = listRejectsFiles(database, account.number);
  const hashesOf = (identifiers: readonly PersonIdentifier[]) =>
    distinct(identifiers).map((one) => hashOf(instance, account.id, one).toString("hex"));

  return (
    person: PersonReference,
    own: readonly StoredLead[],
    others: readonly StoredLead[],
    earlier: Buffer | undefined,
  ): Removal => {
    const removed = [...own, ...others];
    const given = identifiersIn(person);
    const idOf = ({ lead }: StoredLead): PersonIdentifier => ({ kind: "id", value: lead.id });
    // Of leads that only mention the person, the IDs are blocked: their own persons may come again.
    const blocked = [...given, ...own.flatMap(({ lead }) => blockedWith(person, lead)), ...others.map(idOf)];
    const before = earlier === undefined ? null : findPending(database, earlier);
    const receipt: Receipt = {
      erased_at: writeMoment(nowMs),
      account: account.id,
      instance: instance.id,
      hashes: [...new Set([...(before?.receipt.hashes ?? []), ...hashesOf(blocked)])],
      given: hashesOf(given),
      removed: [...(before?.receipt.removed ?? []), ...hashesOf(removed.map(idOf))],
      digests: person.kind === "digest" ? [person.value] : [],
      received: [],
      gaps: [],
      rejects_files: rejectsFiles,
    };
    const arrived = [...(before?.removed ?? []), ...removed.map(({ lead, batch }) => arrivedLead(lead, batch))];
    return {
      person,
      leads: removed,
      people: countPeople(own.map(({ lead }) => lead)),
      identity: identityOf(receipt),
      statements: [
        ...removed.flatMap((lead) => removalOf(database, account, lead)),
        ...blockStatements(account.number, instance, receipt, nowMs, true),
        ...(earlier === undefined ? [] : [database.delete(receipts).where(eq(receipts.identity, earlier))]),
        storeReceipt(database, account.number, receipt, arrived),
      ],
    };
  };
}

/** Returns the statements that delete a lead as it was read, and fail if somebody has changed it since. */
function removalOf(database: Connection, { number }: SuppressedAccount, { ms, doc }: StoredLead): Statement[] {
  const asRead = and(eq(leads.account, number), eq(leads.identifiedAt, ms), eq(leads.doc, doc));
  return [database.delete(leads).where(asRead), changedExactly(1)];
}

/** Returns what changes with each transaction of an import: it adds a row, and then counts what it has read. */
function importsWritten(database: Connection, account: number) {
  const written = { last: max(imports.number), read: sum(imports.read) };
  return database.select(written).from(imports).where(eq(imports.account, account)).get();
}

function listRejectsFiles(database: Connection, account: number): string[] {
  const written = and(eq(imports.account, account), isNotNull(imports.rejectsFile), gt(imports.rejected, 0));
  const rows = database.selectDistinct({ file: imports.rejectsFile }).from(imports).where(written).all();
  return rows.flatMap(({ file }) => (file === null ? [] : [file])).toSorted();
}
