/** One person is deleted and blocked, in a transaction of the caller. */
import { and, eq, isNotNull } from "drizzle-orm";
import type { Lead } from "../../contract/lead.ts";
import { writeMoment } from "../../contract/time.ts";
import type { Received } from "../../store/disclosures.ts";
import type { PersonMark, PersonTrait, Receipt } from "../../store/privacy.ts";
import type { Account } from "../../store/repositories.ts";
import type { Connection } from "../connection.ts";
import { imports } from "../schema.ts";
import { openDeletion } from "./deletion.ts";
import { type ArrivedLead, openRecipients } from "./ledger/recipients.ts";
import { isTakenAlong, marksOf } from "./sight.ts";
import { openStored } from "./stored.ts";
import { hashOf, listInstances, openBlocking } from "./suppressions.ts";
import { traitsOf } from "./traits.ts";

export interface Removed {
  readonly leads: readonly Lead[];
  readonly receipt: Receipt;
}

/** Where the leads of a person lie, and others that are taken along. */
export interface Whereabouts {
  readonly own: readonly number[];
  readonly alongside: readonly number[];
}

export type ErasePerson = (mark: PersonMark, whereabouts: Whereabouts, nowMs: number) => Removed;

/** Prepares what is said to the file for each person. */
export function openErasing(database: Connection, account: Account): ErasePerson {
  const [instance] = listInstances(database);
  if (instance === undefined) throw new Error("the file has no key to hash with");
  const blocking = openBlocking(database, account);
  const storedAt = openStored(database, account.number);
  const recipientsOf = openRecipients(database, account.number);
  const remove = openDeletion(database, account.number);
  const rejectsFiles = listRejectsFiles(database, account.number);
  const leadAt = (ms: number): ArrivedLead[] =>
    storedAt(ms).map(({ doc, batch }) => ({ lead: JSON.parse(doc), batch }));

  return (mark, { own, alongside }, nowMs) => {
    // Somebody may have put another lead in the place of one since it was found.
    const theirs = own.flatMap(leadAt).filter(({ lead }) => marksOf(lead, mark.kind === "digest").includes(mark.value));
    const others = alongside.flatMap(leadAt);
    const received = [...theirs, ...others].flatMap(recipientsOf);
    const gone = [...theirs, ...others].map(({ lead }) => lead);
    const hashes = traitsToBlock(mark, leadsOf(theirs), leadsOf(others)).map((trait) =>
      hashOf(instance, account.id, trait),
    );
    for (const hash of hashes) blocking.hash(instance, hash, nowMs);
    const digests = mark.kind === "digest" ? [mark.value] : [];
    for (const digest of digests) blocking.digest(Buffer.from(digest, "hex"), nowMs);
    for (const lead of gone) remove(lead);
    const receipt = {
      erased_at: writeMoment(nowMs),
      account: account.id,
      instance: instance.id,
      hashes: hashes.map((hash) => hash.toString("hex")),
      digests,
      received: daysByKey(received),
      rejects_files: rejectsFiles,
    };
    return { leads: gone, receipt };
  };
}

/** What keeps the person out, and of leads that only mentioned them the ids: whose leads those are may come in again. */
function traitsToBlock(mark: PersonMark, theirs: readonly Lead[], others: readonly Lead[]): PersonTrait[] {
  const given: PersonTrait[] = mark.kind === "digest" ? [] : [{ kind: mark.kind, value: mark.value }];
  const along = theirs.flatMap(traitsOf).filter((trait) => isTakenAlong(mark, trait));
  const ids = others.map(({ id }): PersonTrait => ({ kind: "id", value: id }));
  return [...new Map([...given, ...along, ...ids].map((trait) => [`${trait.kind} ${trait.value}`, trait])).values()];
}

function leadsOf(arrived: readonly ArrivedLead[]): Lead[] {
  return arrived.map(({ lead }) => lead);
}

/** Whom to tell: each key once, with all its days. */
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
  const written = and(eq(imports.account, account), isNotNull(imports.rejectsFile));
  const rows = database.selectDistinct({ file: imports.rejectsFile }).from(imports).where(written).all();
  return rows.flatMap(({ file }) => (file === null ? [] : [file])).toSorted();
}
