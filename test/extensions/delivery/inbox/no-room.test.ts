/** An inbox without room for what it stages: the file waits, others go on, and no room is kept. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../../../support/admin.ts";
import { withLittleRoom } from "../../../support/small-disk.ts";
import { fillInbox } from "./an-inbox.ts";

const rows = Array.from({ length: 20_000 }, (_, n) => `2026-01-31,px,d${n}@example.com\n`);
const large = `date,pixel_id,email\n${rows.join("")}`;
const small = "date,pixel_id,email\n2026-01-31,px,dana@example.com\n";
const createsPixels = '{"create-pixels":true}';

test("without disk space, the inbox keeps the file, logs it once, and continues with others", async () => {
  const admin = anAdmin(["acme", "other"]);
  const folder = fillInbox(admin, {
    "acme/import.json": createsPixels,
    "acme/large.csv": large,
    "other/import.json": createsPixels,
  });
  const { child, errors, complained } = admin.startUnder(withLittleRoom, ["inbox", folder]);
  // By the second time that the large file is tried, nothing of the first time is left.
  await complained(/acme\/large\.csv: it is tried again/);
  fillInbox(admin, { "other/small.csv": small });
  await complained(/other\/small\.csv: done/);
  const again = /acme\/large\.csv: it is tried again within a minute: [^\n]*has too little space[^\n]*\n/g;
  expect(errors().match(again)).toHaveLength(1);
  expect(existsSync(join(folder, "acme/large.csv"))).toBe(true);
  expect(child.exitCode).toBe(null);
  expect(putAsideBy(child.pid)).toEqual([]);
  expect([await admin.leads(), (await admin.leads("other")).length]).toEqual([[], 1]);
});

/** Files that a process has open though their names are gone. */
function putAsideBy(pid: number): string[] {
  const paths = readdirSync(`/proc/${pid}/fd`).map((number) => readlinkSync(`/proc/${pid}/fd/${number}`));
  return paths.filter((path) => path.endsWith(" (deleted)"));
}
