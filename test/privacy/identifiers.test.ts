/** The number of people whom leads name: leads with a common email address, also through others, are of one person. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { countPeople } from "../../src/privacy/identifiers.ts";

const addresses = ["a", "b", "c", "d", "e", "f"].map((name) => `${name}@example.com`);
const address = fc.option(fc.constantFrom(...addresses));
const lead = fc.record({ name: fc.constant(null), email: address, verified_email: address });

/** Counts the groups of addresses that leads connect, by painting each group. */
function groupsOf(leads: readonly { readonly email: string | null; readonly verified_email: string | null }[]): number {
  const colors = new Map<string, number>();
  for (const [color, name] of addresses.entries()) {
    if (leads.some(({ email, verified_email }) => email === name || verified_email === name)) colors.set(name, color);
  }
  for (const { email, verified_email } of leads) {
    if (email === null || verified_email === null) continue;
    const [kept, painted] = [colors.get(email), colors.get(verified_email)];
    for (const [name, color] of colors) if (color === painted) colors.set(name, kept ?? color);
  }
  return new Set(colors.values()).size;
}

test("people are counted by the addresses that their leads connect, in any order", () => {
  fc.assert(
    fc.property(fc.array(lead, { minLength: 1, maxLength: 12 }), (leads) => {
      expect(countPeople(leads)).toBe(Math.max(1, groupsOf(leads)));
    }),
  );
});
