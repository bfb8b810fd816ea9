/** Whatever address or phone a served lead shows, an erasure by it removes the lead. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { emailKey, phoneKey } from "../../src/contract/person.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aLead, noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { anAccount } from "../support/harness.ts";
import { erase } from "../support/privacy.ts";

const word = fc.stringMatching(/^[a-zA-Z0-9äöüéñ_.+'-]{1,12}$/);
const email = fc.option(
  fc
    .tuple(word, fc.constantFrom("Example.com", "müller.example", "xn--mller-kva.example", "a.b"))
    .map((at) => at.join("@")),
  { nil: null },
);
const phone = fc.option(
  fc
    .tuple(fc.constantFrom("", "1", "001", "0111", "00", "011"), fc.stringMatching(/^[2-9]\d{6,11}$/))
    .map((digits) => digits.join("")),
  { nil: null },
);

test("every lead is removed by each email address and phone that it shows", async () => {
  const store = openAdminStore(join(aFolder(), "leadfile.db"));
  const property = fc.asyncProperty(email, email, phone, async (first, second, number) => {
    const lead = aLead({ email: first ?? second, verified_email: second, phone: number });
    const emails = [lead.email, lead.verified_email].flatMap((one) => (one === null ? [] : [one, one.toUpperCase()]));
    const shown = [
      ...emails.map((one) => ({ kind: "email", value: emailKey(one) }) as const),
      ...(number === null ? [] : [{ kind: "phone", value: phoneKey(number) } as const]),
    ];
    for (const person of shown) {
      const account = anAccount(store, { leads: [lead], pixels: [{ id: lead.pixel_id, status: "active" }] });
      expect(await erase(store.database, account, [person], noonMs)).toMatchObject([{ erased: 1 }]);
    }
  });
  await fc.assert(property, { numRuns: 60 });
  store.close();
});
