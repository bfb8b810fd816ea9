/** Deletes the leads of one person and blocks the person, within a transaction of the caller. */
import { and, eq, gt, isNotNull } from "drizzle-orm";
import type { Lead } from "../contract/lead.ts";
import type { PersonIdentifier } from "../contract/person.ts";
import { writeMoment } from "../contract/time.ts";
import type { Connection } from "../db/connection.ts";
import { imports } from "../db/schema.ts";
import { countPeople } from "../store/different-people.ts";
import type { Received } from "../store/disclosures.ts";
import type { Erased, PersonReference, Receipt } from "../store/privacy.ts";
import type { AccountNumber } from "../store/reading.ts";
import type { Account } from "../store/repositories.ts";
import { type ArrivedLead, openRecipients } from "./disclosures/recipients.ts";
import { isTakenAlong, referencesTo } from "./find-leads.ts";
import { identifiersOf } from "./identifiers.ts";
import { openDeletion, openLeadAt } from "./one-lead.ts";
import { hashOf, listInstances, openBlocking } from "./suppressions.ts";

interface Removed {
  readonly gone: readonly ArrivedLead[];
  /** How many different people were named by those of the person. */
  readonly people: number;
  /** It does not say yet who received the leads. */
  readonly receipt: Receipt;
}

/** The moments of the leads to erase. */
interface Moments {
  /** Of the leads of the person. */
  readonly own: readonly number[];
  /** Of leads that only mention the person, and are erased too, with their ids. */
  readonly mentions: ReadonlyMap<number, string>;
}

type ErasePerson = (reference: PersonReference, moments: Moments, nowMs: number) => Removed;

/** Prepares the statements, which are the same for each person. */
export function openErasing(database: Connection, account: Account): ErasePerson {
  const [instance] = listInstances(database);
  if (instance === undefined) throw new Error("the file has no key to hash with");
  const blocking = openBlocking(database, account);
  const leadAt = openLeadAt(database, account.number);
  const remove = openDeletion(database, account.number);
  const rejectsFiles = listRejectsFiles(database, account.number);

  return (reference, { own, mentions }, nowMs) => {
    // Somebody may have put another lead in the place of one since it was found.
    const theirs = own
      .flatMap(leadAt)
      .filter(({ lead }) => referencesTo(lead, reference.kind === "digest").includes(reference.value));
    const others = [...mentions].flatMap(([ms, id]) => leadAt(ms).filter(({ lead }) => lead.id === id));
    const gone = [...theirs, ...others];
    const hashes = identifiersToBlock(reference, leadsOf(theirs), leadsOf(others)).map((identifier) =>
      hashOf(instance, account.id, identifier),
    );
    for (const hash of hashes) blocking.hash(instance, hash, nowMs);
    const digests = reference.kind === "digest" ? [reference.value] : [];
    for (const digest of digests) blocking.digest(Buffer.from(digest, "hex"), nowMs);
    for (const { doc } of gone) remove(doc);
    const receipt = {
      erased_at: writeMoment(nowMs),
      account: account.id,
      instance: instance.id,
      hashes: hashes.map((hash) => hash.toString("hex")),
      digests,
      received: [],
      rejects_files: rejectsFiles,
    };
    return { gone, people: countPeople(leadsOf(theirs)), receipt };
  };
}

/** What keeps the person out. Of leads that only mention the person, the ids do: their own persons may come again. */
function identifiersToBlock(
  reference: PersonReference,
  theirs: readonly Lead[],
  others: readonly Lead[],
): PersonIdentifier[] {
  const given: PersonIdentifier[] =
    reference.kind === "digest" ? [] : [{ kind: reference.kind, value: reference.value }];
  const along = theirs.flatMap(identifiersOf).filter((identifier) => isTakenAlong(reference, identifier));
  const ids = others.map(({ id }): PersonIdentifier => ({ kind: "id", value: id }));
  return [
    ...new Map(
      [...given, ...along, ...ids].map((identifier) => [`${identifier.kind} ${identifier.value}`, identifier]),
    ).values(),
  ];
}

function leadsOf(arrived: readonly ArrivedLead[]): Lead[] {
  return arrived.map(({ lead }) => lead);
}

/** A person of a list who is erased. */
export type Gone = Removed & Pick<Erased, "place">;

/** The moments of the leads that are gone. */
export function momentsOf(some: readonly Gone[]): number[] {
  return some.flatMap(({ gone }) => gone.map(({ lead }) => Date.parse(lead.identified_at)));
}

/** Completes receipts by who received the leads, which is read now that they are given to nobody any more. */
export function withRecipients(
  database: Connection,
  account: AccountNumber,
  some: readonly Gone[],
  nowMs: number,
): Erased[] {
  const recipientsOf = openRecipients(database, account, momentsOf(some), nowMs);
  return some.map(({ place, gone, people, receipt }) => {
    const received = daysByKey(gone.flatMap(recipientsOf));
    return { place, erased: gone.length, people, receipt: { ...receipt, received } };
  });
}

/** Whom to tell of the erasure: each key once, with its first and last day. */
function daysByKey(received: readonly Received[]): Receipt["received"] {
  return [...Map.groupBy(received, ({ key }) => key)].map(([key, times]) => ({
    key,
    first: times.map(({ first }) => first).toSorted()[0] ?? "",
    last:
      times
        .map(({ last }) => last)
        .toSorted()
        .at(-1) ?? "",
    possibly: times.every(({ possibly }) => possibly),
  }));
}

function listRejectsFiles(database: Connection, account: number): string[] {
  const written = and(eq(imports.account, account), isNotNull(imports.rejectsFile), gt(imports.rejected, 0));
  const rows = database.selectDistinct({ file: imports.rejectsFile }).from(imports).where(written).all();
  return rows.flatMap(({ file }) => (file === null ? [] : [file])).toSorted();
}
