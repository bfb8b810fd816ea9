/** How many people some leads name: a phone, such as that of a company, may be shared by many. */
import { emailKey, type Lead } from "../contract/lead.ts";

/**
 * Counts people by their e-mail addresses: two in one lead are of one person. A lead without any counts by its name, and
 * one without both as somebody whom other leads name. So it is 1 at least, unless there is no lead.
 */
export function countPeople(leads: readonly Pick<Lead, "name" | "email" | "verified_email">[]): number {
  const groups = createGroups();
  const emails = new Set<string>();
  const names = { withEmail: new Set<string>(), alone: new Set<string>() };
  let joined = 0;
  for (const { name, email, verified_email: verified } of leads) {
    const [first, second] = [email ?? verified, verified ?? email];
    if (name !== null) names[first === null ? "alone" : "withEmail"].add(name.normalize("NFC").toLowerCase());
    if (first === null || second === null) continue;
    const [one, other] = [emailKey(first), emailKey(second)];
    emails.add(one).add(other);
    if (groups.join(one, other)) joined++;
  }
  const people = emails.size - joined + names.alone.difference(names.withEmail).size;
  return Math.max(people, Math.min(leads.length, 1));
}

/** Values that came together are of one group. */
function createGroups() {
  /** Another value of the same group. The last one of a group has none. */
  const next = new Map<string, string>();

  function lastOf(value: string): string {
    let last = value;
    for (let following = next.get(last); following !== undefined; following = next.get(last)) {
      // A shorter way for whoever comes after.
      next.set(last, next.get(following) ?? following);
      last = following;
    }
    return last;
  }

  return {
    /** Whether two groups have become one. */
    join(one: string, other: string): boolean {
      const [last, otherLast] = [lastOf(one), lastOf(other)];
      if (last !== otherLast) next.set(last, otherLast);
      return last !== otherLast;
    },
  };
}
