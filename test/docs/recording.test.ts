/** The recording in the README is what the commands show today. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { aFolder } from "../support/folder.ts";
import { start } from "../support/process.ts";
import { blocksOf } from "./walkthrough.ts";

const docs = join(import.meta.dir, "../../docs");

/** A drawing without what is another each time: ids, keys and times. */
const lasting = (drawing: string) =>
  drawing
    .replaceAll(/\b(acc|key|lf)_\w+/g, "$1_")
    .replaceAll(/\d{4}-\d\d-\d\d(T[\d:.]+Z)?/g, "")
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, "")
    .replaceAll(/--seed \d+/g, "");

test("the recorded first five minutes match the output (bun run record updates them)", async () => {
  const file = join(aFolder(), "now.svg");
  const recording = start({}, aFolder(), [process.execPath, join(docs, "record.ts"), file]);
  expect([await recording.exited, recording.errors()]).toEqual([0, ""]);
  const [now, then] = [file, join(docs, "images/first-minutes.svg")].map((path) => lasting(readFileSync(path, "utf8")));
  expect(now).toBe(then ?? "");
});

test("it imports the export of the page on getting started", () => {
  const saved = blocksOf(readFileSync(join(docs, "getting-started.md"), "utf8")).find(
    ({ info }) => info === "csv export.csv",
  );
  expect(readFileSync(join(docs, "export.csv"), "utf8")).toBe(saved?.text ?? "");
});
