/** Listings of a place that does not respond. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { listPlace } from "../../../extensions/upkeep/listing.ts";
import { noonMs } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";

test("a place that does not respond is listed once at a time, so that it keeps one thread", async () => {
  const place = aFolder();
  const backup = join(place, "leadfile-20260101T000000Z.db");
  writeFileSync(backup, "");
  // To read a pipe takes until somebody writes to it.
  Bun.spawnSync(["mkfifo", `${backup}.manifest.json`]);
  const first = listPlace(place, noonMs);
  await Bun.sleep(20);
  expect(listPlace(place, noonMs)).toBe(first);
  Bun.spawn(["sh", "-c", `echo > '${backup}.manifest.json'`]);
  expect(await first).toEqual([]);
});

test("a place is listed anew after its listing has ended", async () => {
  const place = aFolder();
  const first = listPlace(place, noonMs);
  await first;
  const second = listPlace(place, noonMs);
  expect(second).not.toBe(first);
  await second;
  await expect(listPlace(join(place, "missing"), noonMs)).rejects.toThrow("There is no folder");
});
