/** Erases persons: removes their leads, blocks them, and stores a receipt of each. */
import { and, eq, gt, isNotNull, max, sum } from "drizzle-orm";
import type { PersonIdentifier } from "../contract/person.ts";
import { formatTime } from "../contract/time.ts";
import { insertAct } from "../db/audit.ts";
import { type Connection, changedExactly, type LeadDatabase, type Statement, WriteRefused } from "../db/connection.ts";
import { imports, leads, receipts } from "../db/schema.ts";
import {
  detailOf,
  type FoundLeads,
  findLeads,
  findRemaining,
  noLeads,
  openLeadAt,
  type RemainingLeads,
  type Search,
  type StoredLead,
  wantedOf,
} from "./find.ts";
import { blockedWith, countPeople, identifiersIn, identifiersOf, isOf, type PersonReference } from "./identifiers.ts";
import { createMatcher, type Matcher, type Wanted } from "./mentions.ts";
import { completeReceipts, findReceipt, identityOf, type Receipt, readReceipt, storeReceipt } from "./receipts.ts";
import { residueStatement } from "./retention.ts";
import { forgetNumbers, forgetNumbersOf } from "./sent/former-numbers.ts";
import { openLedgerLeads } from "./sent/recipients.ts";
import { blockStatement, hashOf, listInstances, type SuppressedAccount } from "./suppressions.ts";

/** The persons that are erased in one transaction: nobody waits for it longer than some tenths of a second. */
const personsAtOnce = 50;
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

/** Erases persons, with leads of others that mention them if the search has those. The first step begins. */
export class Erasure {
  readonly #done = new Map<PersonReference, Pick<Removal, "people" | "identity"> & { readonly erased: number }>();
  /** Every identifier of the persons for which texts can be searched, and below it those that are blocked. */
  readonly #named: Wanted<PersonReference>[];
  readonly #blocked: Wanted<PersonReference>[];

  constructor(
    readonly database: LeadDatabase,
    readonly account: SuppressedAccount,
    readonly references: readonly PersonReference[],
    readonly search: Search,
    readonly nowMs: number,
  ) {
    this.#named = references.flatMap(wantedOf);
    this.#blocked = [...this.#named];
  }

  /** Each step erases and blocks some persons, durably, and yields how many are done. */
  async *steps(): AsyncGenerator<number> {
    const { database, account, references, search } = this;
    await database.catchUp();
    const importsBefore = importsWritten(database.read, account.number);
    yield* this.#eraseFound(references, findLeads(database.read, account.number, references, search));
    // Everybody is blocked by now. But an import that ran at the same time may have added leads behind the search.
    await database.catchUp();
    if (Bun.deepEquals(importsWritten(database.read, account.number), importsBefore)) return;
    const again = findLeads(database.read, account.number, references, search, this.#blocked);
    yield* this.#eraseFound([...again.keys()], again);
  }

  /** True if leads were removed. */
  get hasRemoved(): boolean {
    return this.#done.values().some(({ erased }) => erased > 0);
  }

  /**
   * Adds the recipients to the receipts, and returns the persons that were erased so far, in their order. Call it when the
   * servers have recorded their last pages.
   */
  async complete(): Promise<ErasedPerson[]> {
    const { database, account, nowMs } = this;
    await database.catchUp();
    await completeReceipts(database, and(eq(receipts.account, account.number), eq(receipts.erasedAt, nowMs)));
    return [...this.#done].map(([person, { erased, people, identity }]) => {
      return { person, erased, people, receipt: findReceipt(database.read, identity)?.receipt ?? "{}" };
    });
  }

  /** Finds the erased persons in other texts, such as files, in which a digest of each number would take too long. */
  get matcher(): Matcher<PersonReference> {
    return createMatcher(this.#named.filter(({ kind }) => kind !== "digest"));
  }

  /** Finds leads that contain an identifier of an erased person, and stay. */
  findRemaining(): RemainingLeads {
    const { database, account, search } = this;
    const blocked = createMatcher(this.#blocked);
    return findRemaining(database.read, account, createMatcher(this.#named), blocked, search.onRead);
  }

  async *#eraseFound(persons: readonly PersonReference[], found: Found): AsyncGenerator<number> {
    for (let at = 0; at < persons.length; at += personsAtOnce) {
      await this.#eraseSome(persons.slice(at, at + personsAtOnce), found);
      yield this.#done.size;
    }
  }

  /** Erases some persons in one transaction. Leads are read anew, because somebody may have changed them since. */
  async #eraseSome(persons: readonly PersonReference[], found: Found): Promise<void> {
    const { database, account, references, nowMs } = this;
    for (let tries = 1; ; tries++) {
      const gone = new Set<string>();
      const planRemoval = openRemoval(database.read, account, nowMs);
      const removals = persons.map((person) =>
        planRemoval(person, found.get(person) ?? noLeads, gone, this.#done.get(person)?.identity),
      );
      const detail = { ...detailOf(references, persons.length), erased: gone.size };
      const act = insertAct(database.read, { atMs: nowMs, act: "lead.erase", account: account.id, detail });
      const residue = gone.size > 0 ? [residueStatement(database.read)] : [];
      try {
        await database.write([...removals.flatMap(({ statements }) => statements), ...residue, act], "everywhere");
        for (const removal of removals) this.#addDone(removal);
        return;
      } catch (cause) {
        if (!(cause instanceof WriteRefused) || tries === maxTries) throw cause;
        await database.catchUp();
      }
    }
  }

  #addDone({ person, leads, blocked, people, identity }: Removal): void {
    const before = this.#done.get(person) ?? { erased: 0, people: 0 };
    const erased = before.erased + leads.length;
    this.#done.set(person, { erased, people: Math.max(before.people, people), identity });
    this.#named.push(...leads.flatMap(({ lead }) => identifiersOf(lead)).map((one) => ({ ...one, owner: person })));
    this.#blocked.push(...blocked.map((one) => ({ ...one, owner: person })));
  }
}

type Found = ReadonlyMap<PersonReference, FoundLeads>;
type Removal = ReturnType<ReturnType<typeof openRemoval>>;

/**
 * Returns a function that plans the erasure of one person: its statements and its receipt. The function extends the earlier
 * receipt, if there is one, and adds the IDs of the removed leads to `gone`.
 */
function openRemoval(database: Connection, account: SuppressedAccount, nowMs: number) {
  const [instance] = listInstances(database);
  if (instance === undefined) throw new Error("the file has no key to hash with");
  const leadAt = openLeadAt(database, account.number);
  const ledger = openLedgerLeads(database, account.number, nowMs);
  const rejectsFiles = listRejectsFiles(database, account.number);
  const hashesOf = (identifiers: readonly PersonIdentifier[]) =>
    identifiers.map((one) => hashOf(instance, account.id, one).toString("hex"));
  const idOf = ({ lead }: StoredLead): PersonIdentifier => ({ kind: "id", value: lead.id });

  return (person: PersonReference, found: FoundLeads, gone: Set<string>, earlier: Buffer | undefined) => {
    // An earlier person may have the same leads, and another lead may have replaced one that was found.
    const isLeft = ({ lead }: StoredLead) => !gone.has(lead.id);
    const own = found.own.flatMap(leadAt).filter((one) => isOf(one.lead, person) && isLeft(one));
    const others = [...found.mentions].flatMap(([ms, id]) =>
      leadAt(ms).filter((one) => one.lead.id === id && isLeft(one)),
    );
    const removed = [...own, ...others];
    for (const { lead } of removed) gone.add(lead.id);
    const given = identifiersIn(person);
    const left = ledger.left(given.filter(({ value }) => !removed.some(({ lead }) => lead.id === value)));
    // Of leads that only mention the person, the IDs are blocked: their own persons may come again.
    const blocked = [...given, ...own.flatMap(({ lead }) => blockedWith(person, lead)), ...others.map(idOf)];
    const before = earlier === undefined ? null : findReceipt(database, earlier);
    const receipt = extend(before === null ? null : readReceipt(before.receipt), {
      erased_at: formatTime(nowMs),
      account: account.id,
      instance: instance.id,
      hashes: [...new Set(hashesOf(blocked))],
      given: hashesOf(given),
      removed: hashesOf(removed.map(idOf)),
      digests: person.kind === "digest" ? [person.value] : [],
      received: [],
      gaps: [],
      rejects_files: rejectsFiles,
    });
    const known = removed.map(({ lead: { id }, number, ms, batch }) => ledger.of({ id, number, ms, batch }));
    const all = [...(before?.removed ?? []), ...known, ...left.values()];
    return {
      person,
      leads: removed,
      blocked,
      people: countPeople(own.map(({ lead }) => lead)),
      identity: identityOf(receipt),
      statements: [
        ...removed.flatMap((lead) => removalOf(database, account, lead)),
        ...[...left.keys()].map((id) => forgetNumbersOf(database, account.number, id)),
        blockStatement(account.number, instance, receipt, nowMs, true),
        ...(earlier === undefined ? [] : [database.delete(receipts).where(eq(receipts.identity, earlier))]),
        storeReceipt(database, account.number, receipt, all),
      ],
    };
  };
}

/** Adds the removals of an earlier step to a receipt. A server may have completed the earlier receipt since. */
function extend(earlier: Receipt | null, receipt: Receipt): Receipt {
  if (earlier === null) return receipt;
  const { hashes, removed, received, gaps } = earlier;
  const all = { hashes: [...new Set([...hashes, ...receipt.hashes])], removed: [...removed, ...receipt.removed] };
  return { ...receipt, ...all, received, gaps };
}

/** Returns the statements that delete a lead as it was read, and fail if somebody has changed it since. */
function removalOf(database: Connection, { number }: SuppressedAccount, { ms, doc }: StoredLead): Statement[] {
  const asRead = and(eq(leads.account, number), eq(leads.identifiedAt, ms), eq(leads.doc, doc));
  return [forgetNumbers(asRead), database.delete(leads).where(asRead), changedExactly(1)];
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
