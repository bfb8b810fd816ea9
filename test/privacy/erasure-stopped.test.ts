/** An erasure that is stopped before it has looked through the bytes: the next one does what is left. */
import { expect, onTestFinished, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Account } from "../../src/store/repositories.ts";
import type { AdminStore } from "../support/admin-store.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aLead, noonMs, someLeads } from "../support/builders.ts";
import { filesWith } from "../support/bytes.ts";
import { watchDatabases } from "../support/closing.ts";
import { aFolder } from "../support/folder.ts";
import { anAccount } from "../support/harness.ts";

const zefira = { kind: "email", value: "zefira@example.com" } as const;
const robin = { kind: "email", value: "robin@example.com" } as const;
const name = "Zefira Quoll";

const eraseIn = (store: AdminStore, account: Account) =>
  store.people.erase(account, [zefira], { withMentions: false }, noonMs);

/** Writes a text where the file has nothing, as a page keeps a stale copy that was split. */
function leaveStale(folder: string, text: string): void {
  const file = join(folder, "leadfile.db");
  const bytes = readFileSync(file);
  const nothing = bytes.indexOf(Buffer.alloc(400), 8192);
  expect(nothing).toBeGreaterThan(0);
  bytes.write(text, nothing + 200);
  writeFileSync(file, bytes);
}

test("what a stopped erasure has left of a person is removed when it is run again", () => {
  const folder = aFolder();
  const closeDatabases = watchDatabases();
  const before = openAdminStore(join(folder, "leadfile.db"));
  const account = anAccount(before, { leads: [...someLeads(50), aLead({ name, email: zefira.value })] });
  const stopped = [...eraseIn(before, account).steps()].flat();
  expect(stopped).toMatchObject([{ erased: 1 }]);
  closeDatabases();
  leaveStale(folder, name);
  const store = openAdminStore(join(folder, "leadfile.db"));
  onTestFinished(() => store.close());
  const again = eraseIn(store, account);
  expect([...again.steps()].flat()).toMatchObject([{ erased: 0 }]);
  expect(filesWith(folder, name)).toEqual(["leadfile.db"]);
  expect(again.removeTraces(() => undefined)).toMatchObject({ gone: true });
  expect(filesWith(folder, name)).toEqual([]);
});

test("so is what a killed one has left that ran beside another", () => {
  const folder = aFolder();
  const closeDatabases = watchDatabases();
  const store = openAdminStore(join(folder, "leadfile.db"));
  const account = anAccount(store, { leads: [...someLeads(50), aLead({ name, email: zefira.value })] });
  const other = store.people.erase(account, [robin], { withMentions: false }, noonMs);
  const killed = eraseIn(store, account);
  for (const erasure of [other, killed]) for (const _ of erasure.steps());
  expect(other.removeTraces(() => undefined)).toMatchObject({ gone: true });
  closeDatabases();
  leaveStale(folder, name);
  const later = openAdminStore(join(folder, "leadfile.db"));
  onTestFinished(() => later.close());
  const next = later.people.erase(account, [robin], { withMentions: false }, noonMs);
  for (const _ of next.steps());
  expect(next.removeTraces(() => undefined)).toMatchObject({ gone: true });
  expect(filesWith(folder, name)).toEqual([]);
});
