/** What is held on one person, and how it is taken out for good. */
import { and, eq } from "drizzle-orm";
import { emailKey, type Lead } from "../../contract/lead.ts";
import { writeMoment } from "../../contract/time.ts";
import type { PeopleRepository, PersonTrait, Receipt } from "../../store/privacy.ts";
import type { Account } from "../../store/repositories.ts";
import { recordAct } from "../audit.ts";
import type { Connection } from "../connection.ts";
import { keepDescriptors } from "../file.ts";
import { bytesOf } from "../import/import.ts";
import { exportDocuments } from "../leads.ts";
import { leads } from "../schema.ts";
import { addSuppressions, hashOf, listInstances, traitsOf } from "./suppressions.ts";
import { needleOf, needlesOf, removeTraces } from "./traces.ts";

export function openPeople(database: Connection, path: string): PeopleRepository {
  const descriptors = keepDescriptors();
  return {
    find(account, person, nowMs) {
      const documents = documentsOf(database, account.number, person).toReversed();
      const detail = { by: person.kind, leads: documents.length };
      recordAct(database, { atMs: nowMs, act: "lead.find", account: account.id, detail });
      return documents;
    },
    erase(account, person, nowMs) {
      // Blocked first: what an import brings from here on stays out, and what it brought until then is found.
      block(database, account, [person], nowMs);
      const documents = documentsOf(database, account.number, person);
      const receipt = remove(database, account, person, documents, nowMs);
      const needles = [...documents.flatMap(needlesOf), needleOf(person.value)];
      return {
        erased: documents.length,
        receipt,
        alike: countAlike(database, account.number, person, documents),
        removeTraces: () => removeTraces(database, path, needles, descriptors),
      };
    },
  };
}

/** The documents of the leads of one person, oldest first. */
export function documentsOf(database: Connection, account: number, person: PersonTrait): string[] {
  if (person.kind === "id") {
    const where = and(eq(leads.account, account), eq(leads.uuid, bytesOf(person.value)));
    return database
      .select({ doc: leads.doc })
      .from(leads)
      .where(where)
      .all()
      .map(({ doc }) => doc);
  }
  const found: string[] = [];
  const mayHold = person.kind === "phone" ? holdsPhone(person.value) : holdsEmail(person.value);
  for (const documents of exportDocuments(database, account)) {
    found.push(...documents.filter((document) => mayHold(document) && isOf(JSON.parse(document), person)));
  }
  return found;
}

function isOf(lead: Lead, { kind, value }: PersonTrait): boolean {
  return traitsOf(lead).some((trait) => trait.kind === kind && trait.value === value);
}

/** Reading a million documents costs more than looking for a text in them, so that is done first. */
function holdsPhone(digits: string): (document: string) => boolean {
  const texts = [`"phone":"${digits}"`, `"phone":"1${digits}"`];
  return (document) => texts.some((text) => document.includes(text));
}

function holdsEmail(email: string): (document: string) => boolean {
  const text = JSON.stringify(emailKey(email)).slice(1, -1);
  return (document) => document.toLowerCase().includes(text);
}

function block(database: Connection, account: Account, traits: readonly PersonTrait[], nowMs: number): Buffer[] {
  const [instance] = listInstances(database);
  if (instance === undefined) throw new Error("the file has no key to hash with");
  const hashes = traits.map((trait) => hashOf(instance, account.id, trait));
  addSuppressions(database, account, instance, hashes, nowMs);
  return hashes;
}

/** How many leads stay that have another e-mail address of those that were removed. */
function countAlike(database: Connection, account: number, person: PersonTrait, removed: readonly string[]): number {
  const traits = removed.flatMap((document) => traitsOf(JSON.parse(document)));
  const others = traits.filter(({ kind, value }) => kind === "email" && value !== person.value);
  const alike = [...new Set(others.map(({ value }) => value))].flatMap((value) =>
    documentsOf(database, account, { kind: "email", value }),
  );
  return new Set(alike).size;
}

/** Deletes the leads, blocks what their person is known by, and puts it on record: all of it or nothing. */
function remove(
  database: Connection,
  account: Account,
  person: PersonTrait,
  documents: readonly string[],
  nowMs: number,
): Receipt {
  return database.transaction(
    () => {
      const removed = documents.map((document): Lead => JSON.parse(document));
      const kinds = person.kind === "id" ? ["email", "phone"] : ["email"];
      const more = removed.flatMap(traitsOf).filter(({ kind }) => kinds.includes(kind));
      const traits = new Map([person, ...more].map((trait) => [`${trait.kind} ${trait.value}`, trait]));
      const hashes = block(database, account, [...traits.values()], nowMs);
      deleteLeads(database, account.number, removed);
      const detail = { by: person.kind, erased: removed.length };
      recordAct(database, { atMs: nowMs, act: "lead.erase", account: account.id, detail });
      return {
        erased_at: writeMoment(nowMs),
        account: account.id,
        instance: listInstances(database)[0]?.id ?? "",
        hashes: hashes.map((hash) => hash.toString("hex")),
      };
    },
    { behavior: "immediate" },
  );
}

/** Deletes leads by the moment that each has for itself; to be called within a transaction. */
export function deleteLeads(database: Connection, account: number, gone: readonly Lead[]): void {
  for (const { id, identified_at } of gone) {
    const at = eq(leads.identifiedAt, Date.parse(identified_at));
    database
      .delete(leads)
      .where(and(eq(leads.account, account), at, eq(leads.uuid, bytesOf(id))))
      .run();
  }
}
