/** How many people some leads name: a phone, such as that of a company, may be shared by many. */
import type { Lead } from "../contract/lead.ts";
import { emailKey } from "../contract/person.ts";

/**
 * Counts people by their e-mail addresses: two in one lead are of one person. A lead without any counts by its name, and
 * one without both as somebody whom other leads name. So it is 1 at least, unless there is no lead.
 */
export function countPeople(leads: readonly Pick<Lead, "name" | "email" | "verified_email">[]): number {
  const byEmail = new Map<string, Person>();
  const names = { withEmail: new Set<string>(), alone: new Set<string>() };
  for (const { name, email, verified_email: verified } of leads) {
    const [one, other] = [email ?? verified, verified ?? email];
    if (name !== null) names[one === null ? "alone" : "withEmail"].add(name.normalize("NFC").toLowerCase());
    if (one !== null && other !== null) join(byEmail, emailKey(one), emailKey(other));
  }
  const people = new Set(byEmail.values()).size + names.alone.difference(names.withEmail).size;
  return Math.max(people, Math.min(leads.length, 1));
}

/** The addresses of one person. */
type Person = Set<string>;

/** Notes that two addresses are of one person. */
function join(byEmail: Map<string, Person>, one: string, other: string): void {
  const [a, b] = [byEmail.get(one) ?? new Set([one]), byEmail.get(other) ?? new Set([other])];
  if (a === b) return;
  // The fewer addresses move: where one lead after the other adds one, the many would move each time.
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  for (const email of [...few, one, other]) byEmail.set(email, many.add(email));
}
