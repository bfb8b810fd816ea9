/** Who received leads that were taken back, or erased and let in again, when they have come again. */
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { dayMs, dayOf } from "../../src/contract/time.ts";
import { openAdminStore } from "../../src/sqlite/admin-store.ts";
import { openDatabase } from "../../src/sqlite/open.ts";
import { writeDisclosures } from "../../src/sqlite/privacy/ledger/disclosures.ts";
import { aLead, newLead, noonMs } from "../builders.ts";
import { aFolder } from "../folder.ts";
import { aKey, anAccount } from "../harness.ts";
import { imported } from "../store/importing.ts";

/** A file with an account and a key. */
function aFile() {
  const path = join(aFolder(), "leadfile.db");
  const admin = openAdminStore(path);
  onTestFinished(() => admin.close());
  const account = anAccount(admin);
  aKey(admin, account);
  return {
    admin,
    account,
    async importOn(day: number, ...leads: readonly Lead[]): Promise<void> {
      const now = () => noonMs + day * dayMs;
      await imported(admin, account, leads.map(newLead), { now });
    },
    /** As if the key had read a page with all leads on each day. */
    readOn(...days: readonly number[]): void {
      const database = openDatabase(path);
      const added = [{ oldestMs: 0, newestMs: noonMs }];
      for (const day of days)
        writeDisclosures(database, { key: 1, day: dayOf(noonMs + day * dayMs), filter: "", removed: [], added });
    },
    received: ({ id }: Lead) => [...admin.people.find(account, [{ kind: "id", value: id }], noonMs)][0]?.received,
  };
}

const onDayOne = { first: dayOf(noonMs + dayMs), last: dayOf(noonMs + dayMs), possibly: true };

test("a lead that came again after an undo was possibly received by whoever read while it was there before", async () => {
  const { admin, account, importOn, readOn, received } = aFile();
  const lead = aLead();
  const other = aLead({ identified_at: "2025-01-01T00:00:00.000Z" });
  await importOn(0, lead);
  const undone = admin.imports.find(account, 1);
  if (undone === null) throw new Error("there is no import");
  for await (const _ of admin.imports.undo(account, undone, noonMs + 4 * dayMs));
  await importOn(9, lead, other);
  readOn(1, 6);
  expect(received(lead)).toMatchObject([{ id: lead.id, ...onDayOne }]);
  expect(received(other)).toEqual([]);
});

test("a lead that came again after an unblocking was possibly received by whoever read before it", async () => {
  const { admin, account, importOn, readOn, received } = aFile();
  const person = { kind: "email", value: "dana@example.com" } as const;
  const lead = aLead({ email: person.value, verified_email: null });
  const robin = { email: "robin@example.com", verified_email: null, identified_at: "2025-01-01T00:00:00.000Z" };
  const other = aLead(robin);
  await importOn(0, lead);
  const erasure = admin.people.erase(account, [person], { withMentions: false }, noonMs + 4 * dayMs);
  for (const _ of erasure.steps());
  await importOn(5, other);
  expect(admin.people.unblock(account, person, noonMs + 5 * dayMs + 1)).toBe(1);
  await importOn(9, lead);
  readOn(1, 6);
  expect(received(lead)).toMatchObject([{ id: lead.id, ...onDayOne }]);
  expect(received(other)).toMatchObject([{ first: dayOf(noonMs + 6 * dayMs), possibly: false }]);
});
