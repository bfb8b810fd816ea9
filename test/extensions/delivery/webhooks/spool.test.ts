/** The spool: deliveries that were answered are on the disk, whatever happens to the process. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSpool } from "../../../../extensions/delivery/webhooks/spool.ts";
import { aFolder } from "../../../support/folder.ts";
import { needing } from "../../../support/needing.ts";
import { aSmallDisk, fill } from "../../../support/small-disk.ts";

let ms = 0;
const clock = () => ++ms;

test("lines that come together are in one file, in the order in which they came", async () => {
  const folder = aFolder();
  const spool = await openSpool(folder, clock);
  await Promise.all(["a", "b", "c"].map((line) => spool.append("src_1", [line])));
  await spool.complete();
  const [file = "", ...more] = readdirSync(join(folder, "src_1"));
  expect(more).toEqual([]);
  expect(readFileSync(join(folder, "src_1", file), "utf8")).toBe("a\nb\nc\n");
});

test("a file is complete only after complete(), and the next lines begin another file", async () => {
  const folder = aFolder();
  const spool = await openSpool(folder, clock);
  await spool.append("src_1", ["a"]);
  expect(readdirSync(join(folder, "src_1"))).toEqual([expect.stringMatching(/\.part$/)]);
  await spool.complete();
  await spool.append("src_1", ["b"]);
  const endings = readdirSync(join(folder, "src_1")).map((name) => name.slice(name.indexOf(".")));
  expect(endings.toSorted()).toEqual([".ndjson", ".part"]);
  await spool.complete();
});

test("the files of a killed process are completed, without its unfinished line", async () => {
  const folder = aFolder();
  mkdirSync(join(folder, "src_1"));
  writeFileSync(join(folder, "src_1", "1.part"), '{"a":1}\n{"b":');
  writeFileSync(join(folder, "src_1", "2.part"), '{"c":');
  await openSpool(folder, clock);
  expect(readdirSync(join(folder, "src_1"))).toEqual(["1.ndjson"]);
  expect(readFileSync(join(folder, "src_1", "1.ndjson"), "utf8")).toBe('{"a":1}\n');
});

test("lines that cannot be written are rejected, and the next ones start another file", async () => {
  const folder = aFolder();
  writeFileSync(join(folder, "src_1"), "a file where a folder is wanted");
  const spool = await openSpool(folder, clock);
  await expect(spool.append("src_1", ["a"])).rejects.toThrow();
  rmSync(join(folder, "src_1"));
  await spool.append("src_1", ["b"]);
  await spool.complete();
  const [file = ""] = readdirSync(join(folder, "src_1"));
  expect(readFileSync(join(folder, "src_1", file), "utf8")).toBe("b\n");
});

needing("mount")("a file in which a full disk kept no line is deleted", async () => {
  using disk = aSmallDisk(aFolder(), "size=64k");
  const spool = await openSpool(disk.path, clock);
  fill(disk.path);
  await expect(spool.append("src_1", ["a"])).rejects.toThrow("ENOSPC");
  expect(readdirSync(join(disk.path, "src_1"))).toEqual([]);
});

test("a source whose folder was removed creates it again", async () => {
  const folder = aFolder();
  const spool = await openSpool(folder, clock);
  await spool.append("src_1", ["a"]);
  await spool.append("src_2", ["b"]);
  rmSync(join(folder, "src_1"), { recursive: true });
  await expect(spool.complete()).rejects.toThrow();
  expect(readdirSync(join(folder, "src_2"))).toEqual([expect.stringMatching(/\.ndjson$/)]);
  await spool.append("src_1", ["c"]);
  await spool.complete();
  expect(readdirSync(join(folder, "src_1"))).toEqual([expect.stringMatching(/\.ndjson$/)]);
});

test("the size is checked again after the clock was set back by an hour", async () => {
  const time = { nowMs: 10_000_000 };
  const spool = await openSpool(aFolder(), () => time.nowMs);
  expect(await spool.size()).toBe(0);
  await spool.append("src_1", ["a"]);
  time.nowMs -= 3_600_000;
  expect(await spool.size()).toBe(2);
  await spool.complete();
});

test("a delivery into a removed file is rejected, and the next one is stored", async () => {
  const folder = aFolder();
  const spool = await openSpool(folder, clock);
  await spool.append("src_1", ["a"]);
  rmSync(join(folder, "src_1"), { recursive: true });
  await expect(spool.append("src_1", ["b"])).rejects.toThrow("removed");
  await spool.append("src_1", ["c"]);
  await spool.complete();
  const [file = ""] = readdirSync(join(folder, "src_1"));
  expect(readFileSync(join(folder, "src_1", file), "utf8")).toBe("c\n");
});
