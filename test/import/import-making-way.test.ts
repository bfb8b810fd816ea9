/** Other writers do not wait for the end of an import. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chownSync, existsSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { until } from "../support/eventually.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";

const rows = Array.from({ length: 20_000 }, (_, n) => `2026-01-31,d${n}@example.com\n`).join("");

const nobody = 65_534;
needing("root")("the server of another user can request the lock while root imports", async () => {
  const admin = anAdmin();
  for (const path of [admin.folder, admin.file]) chownSync(path, nobody, nobody);
  // The import waits for another writer as long as this looks.
  using other = new Database(admin.file);
  other.run("BEGIN IMMEDIATE");
  const importing = admin.import("date,email\n2026-01-01,a@example.com", "--pixel", "px");
  let done = false;
  void importing.then(() => (done = true));
  const owner = () => statSync(`${admin.file}.asking`, { throwIfNoEntry: false })?.uid;
  await until(() => owner() === nobody || done);
  other.run("COMMIT");
  expect([done, (await importing).json]).toMatchObject([false, { imported: 1 }]);
});

needing("root")("a link at the name of the lock request does not change its target", async () => {
  const admin = anAdmin();
  for (const path of [admin.folder, admin.file]) chownSync(path, nobody, nobody);
  const other = join(aFolder(), "of-root");
  writeFileSync(other, "");
  symlinkSync(other, `${admin.file}.asking`);
  expect((await admin.import("date,email\n2026-01-01,a@example.com", "--pixel", "px")).status).toBe(0);
  expect(statSync(other).uid).toBe(0);
});

test("a program that waited for the lock leaves no file", async () => {
  const admin = anAdmin();
  await admin.import(`date,email\n${rows.slice(0, 1000)}`, "--pixel", "px");
  expect(existsSync(`${admin.file}.asking`)).toBe(false);
});

test("an import continues after a lock request of a dead process", async () => {
  const admin = anAdmin();
  await Bun.write(`${admin.file}.asking`, "....");
  expect((await admin.import("date,email\n2026-01-31,a@example.com\n", "--pixel", "px")).json).toMatchObject({
    imported: 1,
  });
  using file = new Database(admin.file);
  expect(file.query("SELECT count(*) AS leads FROM stored_leads").get()).toEqual({ leads: 1 });
});
