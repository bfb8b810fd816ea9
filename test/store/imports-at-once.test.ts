/** Several imports into one account at once: what clients that poll may have passed is counted as late. */
import { expect, onTestFinished, spyOn, test } from "bun:test";
import { join } from "node:path";
import { writeMoment } from "../../src/contract/time.ts";
import { openAdminStore } from "../../src/sqlite/admin-store.ts";
import { aLead, newLead, noonMs } from "../builders.ts";
import { aFolder } from "../folder.ts";
import { anAccount } from "../harness.ts";
import { imported, importing } from "./importing.ts";

/** An account, in which a transaction of an import ends after a part or two. */
function anAccountOfSmallTransactions() {
  const admin = openAdminStore(join(aFolder(), "leadfile.db"));
  let clockMs = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => (clockMs += 1000));
  onTestFinished(() => {
    clock.mockRestore();
    admin.close();
  });
  return { admin, account: anAccount(admin) };
}

/** So many leads, one a second, from so many seconds after noon on. */
const leadsFrom = (second: number, count: number) =>
  Array.from({ length: count }, (_, n) =>
    newLead(aLead({ identified_at: writeMoment(noonMs - 86_400_000 + (second + n) * 1000) })),
  );

test("leads that come in behind those which another import has brought meanwhile are late", async () => {
  const { admin, account } = anAccountOfSmallTransactions();
  const slow = importing(admin, account, leadsFrom(0, 3000));
  const { value: first } = await slow.next();
  expect(first).toMatchObject({ counts: { late: 0 } });
  const done = first?.done ?? 0;
  expect(await imported(admin, account, leadsFrom(2500, 1))).toMatchObject({ imported: 1, late: 0 });
  let late = 0;
  for await (const { counts } of slow) late = counts.late;
  // That of second 2,500 is moved behind the one that is there.
  expect(late).toBe(2500 - done);
});

test("leads are not late that another import has brought older ones beside", async () => {
  const { admin, account } = anAccountOfSmallTransactions();
  const slow = importing(admin, account, leadsFrom(0, 3000));
  await slow.next();
  expect(await imported(admin, account, leadsFrom(-10, 10))).toMatchObject({ imported: 10, late: 10 });
  for await (const { counts } of slow) expect(counts.late).toBe(0);
});
