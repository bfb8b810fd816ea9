/** Tables of people instead of visits: the time at which an entry was made is not that of a visit. */
import type { LeadField } from "../../contract/lead.ts";
import { type Meaning, normalizeName } from "./vocabulary.ts";

const ofVisits: ReadonlySet<LeadField> = new Set(["pixel_id", "page_url", "referrer"]);

/** Whether the columns are those of an address book, which has people but no visits. */
export function isAddressBook(meanings: readonly (Meaning | null)[]): boolean {
  const held = new Set(meanings.map((meaning) => meaning?.target));
  if ([...ofVisits].some((field) => held.has(field))) return false;
  const people = ["name", "first_name", "last_name", "phone", "company", "city", "state"] as const;
  return people.filter((field) => held.has(field)).length >= 3;
}

/** Whether a column, not one that the owner named, says when something was made. */
export function isCreation(name: string | undefined, meaning: Meaning | null): boolean {
  if (name === undefined || meaning === null || meaning.rank < 0) return false;
  return (
    meaning.target === "identified_at" &&
    /^(?:created?(?:at|on|date|time)?|creationdate|datecreated)$/.test(normalizeName(name))
  );
}
