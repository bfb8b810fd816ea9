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

/** A spool in a folder of its own, and the files of one source in it. */
async function aSpool(folder = aFolder()) {
  const source = join(folder, "src_1");
  return {
    ...(await openSpool(folder, clock)),
    source,
    endings: () => readdirSync(source).map((name) => name.slice(name.indexOf("."))),
    texts: () => readdirSync(source).map((name) => readFileSync(join(source, name), "utf8")),
  };
}

test("lines that come together are in one file, in the order in which they came", async () => {
  const { append, complete, texts } = await aSpool();
  await Promise.all(["a", "b", "c"].map((line) => append("src_1", line)));
  await complete();
  expect(texts()).toEqual(["a\nb\nc\n"]);
});

test("a file is complete only after complete(), and the next lines begin another file", async () => {
  const { append, complete, endings } = await aSpool();
  await append("src_1", "a");
  expect(endings()).toEqual([".part"]);
  await complete();
  await append("src_1", "b");
  expect(endings().toSorted()).toEqual([".ndjson", ".part"]);
  await complete();
});

test("the files of a killed process are completed, without its unfinished line", async () => {
  const folder = aFolder();
  mkdirSync(join(folder, "src_1"));
  writeFileSync(join(folder, "src_1", "1.part"), '{"a":1}\n{"b":');
  writeFileSync(join(folder, "src_1", "2.part"), '{"c":');
  const { endings, texts } = await aSpool(folder);
  expect([endings(), texts()]).toEqual([[".ndjson"], ['{"a":1}\n']]);
});

test("lines that cannot be written are rejected, and the next ones start another file", async () => {
  const { append, complete, source, texts } = await aSpool();
  writeFileSync(source, "a file where a folder is wanted");
  await expect(append("src_1", "a")).rejects.toThrow();
  rmSync(source);
  await append("src_1", "b");
  await complete();
  expect(texts()).toEqual(["b\n"]);
});

needing("mount")("a file in which a full disk kept no line is deleted", async () => {
  using disk = aSmallDisk(aFolder(), "size=64k");
  const { append, endings } = await aSpool(disk.path);
  fill(disk.path);
  await expect(append("src_1", "a")).rejects.toThrow("ENOSPC");
  expect(endings()).toEqual([]);
});

test("a source whose folder was removed rejects what it cannot keep, and creates the folder again", async () => {
  const folder = aFolder();
  const { append, complete, source, texts, endings } = await aSpool(folder);
  await append("src_1", "a");
  await append("src_2", "b");
  rmSync(source, { recursive: true });
  await expect(complete()).rejects.toThrow();
  expect(readdirSync(join(folder, "src_2"))).toEqual([expect.stringMatching(/\.ndjson$/)]);
  await append("src_1", "c");
  rmSync(source, { recursive: true });
  await expect(append("src_1", "d")).rejects.toThrow("removed");
  await append("src_1", "e");
  await complete();
  expect([endings(), texts()]).toEqual([[".ndjson"], ["e\n"]]);
});

test("the size is checked again after the clock was set back by an hour", async () => {
  const time = { nowMs: 10_000_000 };
  const spool = await openSpool(aFolder(), () => time.nowMs);
  expect(await spool.size()).toBe(0);
  await spool.append("src_1", "a");
  time.nowMs -= 3_600_000;
  expect(await spool.size()).toBe(2);
  await spool.complete();
});
