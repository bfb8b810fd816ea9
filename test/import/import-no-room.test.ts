/** An import without space for staged leads: its messages, and the work that continues. */
import { expect, test } from "bun:test";
import { statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { copyLead } from "../support/database.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";
import { aSmallDisk, withLittleRoom } from "../support/small-disk.ts";
import { betweenTransactions } from "../support/write-lock.ts";

const rows = Array.from({ length: 20_000 }, (_, n) => `2026-01-31,px,d${n}@example.com\n`);
const large = `date,pixel_id,email\n${rows.join("")}`;

test("a full disk ends an import in one line with the folder and advice", async () => {
  const admin = anAdmin();
  const file = admin.put("large.csv", large);
  const { exited, errors } = admin.startUnder(withLittleRoom, ["lead", "import", "acme", file, "--create-pixels"]);
  expect([await exited, await admin.leads()]).toEqual([1, []]);
  const last = errors().trimEnd().split("\n").at(-1);
  expect(last).toStartWith(`The folder ${admin.folder} has too little space to stage the file`);
  expect(last).toMatch(/Nothing was imported\. Free /);
});

needing("mount")("an undo succeeds on a nearly full disk, and leaves room for a revocation", async () => {
  using disk = aSmallDisk(aFolder(), "size=80m");
  const path = join(disk.path, "leadfile.db");
  const admin = anAdmin([], { DATABASE_PATH: path });
  await admin.run("account", "create", "acme");
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  await admin.import("date,pixel_id,email\n2026-01-31,px,d0@example.com\n");
  copyLead({ file: path }, 20_000);
  const { bavail, bsize } = statfsSync(disk.path);
  writeFileSync(join(disk.path, "rest"), Buffer.alloc(bavail * bsize - 20_000_000));
  const child = admin.start("import", "undo", "acme", "1");
  // Every request for the lock makes it write pages again.
  for await (const _ of betweenTransactions(path, child.exited, () => true));
  expect(await child.exited).toBe(0);
  expect((await admin.run("key", "revoke", id, "--yes")).status).toBe(0);
});
