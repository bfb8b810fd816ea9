/** An erasure that is stopped before it has removed the bytes: the next one does what is left. */
import { expect, onTestFinished, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAdminStore } from "../support/admin-store.ts";
import { aLead, noonMs, someLeads } from "../support/builders.ts";
import { filesWith } from "../support/bytes.ts";
import { watchDatabases } from "../support/closing.ts";
import { aFolder } from "../support/folder.ts";
import { anAccount } from "../support/harness.ts";
import { erase } from "../support/privacy.ts";

const zefira = { kind: "email", value: "zefira@example.com" } as const;
const robin = { kind: "email", value: "robin@example.com" } as const;
const name = "Zefira Quoll";

/** Writes a text where the file has nothing, as a page keeps a stale copy that was split. */
function leaveStale(folder: string, text: string): void {
  const file = join(folder, "leadfile.db");
  const bytes = readFileSync(file);
  const nothing = bytes.indexOf(Buffer.alloc(400), 8192);
  expect(nothing).toBeGreaterThan(0);
  bytes.write(text, nothing + 200);
  writeFileSync(file, bytes);
}

/** A file from which Zefira was erased by somebody who was killed before the bytes were removed. */
async function afterKill() {
  const folder = aFolder();
  const closeDatabases = watchDatabases();
  const store = openAdminStore(join(folder, "leadfile.db"));
  const account = anAccount(store, { leads: [...someLeads(50), aLead({ name, email: zefira.value })] });
  expect(await erase(store.database, account, [zefira], noonMs)).toMatchObject([{ erased: 1 }]);
  closeDatabases();
  leaveStale(folder, name);
  const later = openAdminStore(join(folder, "leadfile.db"));
  onTestFinished(() => later.close());
  return { folder, account, database: later.database };
}

test.each([zefira, robin])("what a killed erasure has left is removed by the next one, of $value", async (next) => {
  const { folder, account, database } = await afterKill();
  expect(filesWith(folder, name)).not.toEqual([]);
  expect(await erase(database, account, [next], noonMs)).toMatchObject([{ erased: 0 }]);
  expect(await database.removeResidualBytes()).toEqual([]);
  expect(filesWith(folder, name)).toEqual([]);
});
