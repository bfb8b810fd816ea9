/** Finds what is held on persons, erases them, and lets them in again. */
import { eq } from "drizzle-orm";
import { writeMoment } from "../contract/time.ts";
import { recordAct } from "../db/audit.ts";
import type { Connection } from "../db/connection.ts";
import { keepDescriptors } from "../db/file.ts";
import { imports } from "../db/schema.ts";
import { countPeople } from "../store/different-people.ts";
import type { HeldImport, PeopleRepository } from "../store/privacy.ts";
import { openRecipients } from "./disclosures/recipients.ts";
import { detailOf, startErasure } from "./erasure.ts";
import { type FoundLeads, findLeads, firstPlaces } from "./find-leads.ts";
import { liftBlocks } from "./lift-blocks.ts";
import { openLeadAt } from "./one-lead.ts";
import { openSuppressions } from "./suppressions.ts";

const ignore = () => undefined;

export function openPeople(database: Connection): PeopleRepository {
  const descriptors = keepDescriptors();
  return {
    *find(account, persons, nowMs, onRead = ignore) {
      const { own, mentions } = findLeads(database, account.number, persons, onRead);
      const detail = { ...detailOf(persons, persons.length), leads: countOf(own) };
      recordAct(database, { atMs: nowMs, act: "lead.find", account: account.id, detail });
      const leadAt = openLeadAt(database, account.number);
      const recipientsOf = openRecipients(database, account.number, [...own.values()].flat(), nowMs);
      // A person who is listed twice was found in the first place.
      const places = firstPlaces(persons);
      for (const { value } of persons) {
        const place = places.get(value) ?? 0;
        const found = (own.get(place) ?? []).toReversed().flatMap(leadAt);
        yield {
          leads: found.map(({ doc }) => doc),
          received: found.flatMap(recipientsOf),
          imports: [...new Set(found.map(({ batch }) => batch))].flatMap((batch) => importNamed(database, batch)),
          mentions: [...(mentions.get(place)?.values() ?? [])],
        };
      }
    },
    survey(account, persons, onRead = ignore) {
      const { own, mentions } = findLeads(database, account.number, persons, onRead);
      const leadAt = openLeadAt(database, account.number);
      const leadsAt = (moments: readonly number[]) => moments.flatMap(leadAt).map(({ lead }) => lead);
      return {
        leads: persons.map((_, place) => own.get(place)?.length ?? 0),
        people: persons.map((_, place) => countPeople(leadsAt(own.get(place) ?? []))),
        mentions: [...new Set([...mentions.values()].flatMap((ids) => [...ids.values()]))],
      };
    },
    erase: (...asked) => startErasure(database, descriptors, ...asked),
    isBlocked: (account, identifier) => openSuppressions(database, account)([identifier]),
    unblock(account, identifier, nowMs) {
      const unblock = () => {
        const unblocked = liftBlocks(database, account, identifier);
        const detail = { by: identifier.kind, unblocked };
        recordAct(database, { atMs: nowMs, act: "lead.unblock", account: account.id, detail });
        return unblocked;
      };
      return database.transaction(unblock, { behavior: "immediate" });
    },
  };
}

/** The import that brought a lead; none where it is not known. */
function importNamed(database: Connection, number: number): HeldImport[] {
  const one = database
    .select({ at: imports.at, file: imports.file })
    .from(imports)
    .where(eq(imports.number, number))
    .get();
  return one === undefined ? [] : [{ import: number, at: writeMoment(one.at), file: one.file }];
}

function countOf(own: FoundLeads["own"]): number {
  return [...own.values()].reduce((sum, { length }) => sum + length, 0);
}
