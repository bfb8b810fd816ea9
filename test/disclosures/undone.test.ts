/** Who received leads of an import that was taken back, when they have come again. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { dayMs, dayOf } from "../../src/contract/time.ts";
import { openAdminStore } from "../../src/sqlite/admin-store.ts";
import { openDatabase } from "../../src/sqlite/open.ts";
import { openDisclosureWriter } from "../../src/sqlite/privacy/ledger/disclosures.ts";
import { emptyCounts } from "../../src/store/imports.ts";
import { aLead, newLead, noonMs } from "../builders.ts";
import { aFolder } from "../folder.ts";
import { aKey, anAccount } from "../harness.ts";

test("a lead that came again after an undo was possibly received by whoever read while it was there before", async () => {
  const path = join(aFolder(), "leadfile.db");
  const admin = openAdminStore(path);
  const account = anAccount(admin);
  aKey(admin, account);
  const lead = aLead();
  const other = aLead({ identified_at: "2025-01-01T00:00:00.000Z" });
  async function importOn(day: number, ...leads: readonly (typeof lead)[]): Promise<void> {
    const nowMs = noonMs + day * dayMs;
    const how = { onDuplicate: "skip", createPixels: true, dryRun: false } as const;
    const origin = { file: "leads.csv", by: "dana", rejectsFile: null, startedMs: nowMs };
    const staged = admin.imports.begin(account, how, origin);
    for (const one of leads) staged.add(newLead(one));
    for await (const _ of staged.merge({ ...emptyCounts(), read: leads.length }, () => nowMs));
    staged.close();
  }
  await importOn(0, lead);
  const undone = admin.imports.find(account, 1);
  if (undone === null) throw new Error("there is no import");
  for await (const _ of admin.imports.undo(account, undone, noonMs + 4 * dayMs));
  await importOn(9, lead, other);
  const writePage = openDisclosureWriter(openDatabase(path));
  for (const day of [1, 6]) {
    const added = [{ oldestMs: 0, newestMs: noonMs }];
    writePage({ key: 1, day: dayOf(noonMs + day * dayMs), filter: "", removed: [], added });
  }
  const persons = [lead, other].map(({ id }) => ({ kind: "id", value: id }) as const);
  const [ofLead, ofOther] = [...admin.people.find(account, persons, noonMs)].map(({ received }) => received);
  const day = dayOf(noonMs + dayMs);
  expect(ofLead).toMatchObject([{ id: lead.id, first: day, last: day, possibly: true }]);
  expect(ofOther).toEqual([]);
  admin.close();
});
