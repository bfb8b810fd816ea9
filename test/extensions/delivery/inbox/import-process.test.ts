/** The process that imports: a file that cannot be read to its end, or that ends the process, costs nothing but itself. */
import { expect, onTestFinished, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FileSource } from "../../../../extensions/delivery/inbox/archive.ts";
import { ImportProcess } from "../../../../extensions/delivery/inbox/import-process.ts";
import { Inbox } from "../../../../extensions/delivery/inbox/inbox.ts";
import { aFolder } from "../../../support/folder.ts";

/** An inbox of files that were complete long ago, whose imports may take a second. Looks until nothing is left to do. */
async function importing(source: FileSource, files: Readonly<Record<string, string>>) {
  const folder = aFolder();
  mkdirSync(join(folder, "acme"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "acme", name), text);
  let nowMs = Date.now();
  const said: string[] = [];
  const command = [process.execPath, join(import.meta.dir, "stuck-imports.ts")];
  const imports = new ImportProcess(command, () => nowMs, { minuteMs: 1000 });
  onTestFinished(() => imports.end());
  const inbox = new Inbox(folder, {
    importOf: () => (file, rejects) => imports.run({ account: "acme", settings: {}, source, file, rejects }),
    source,
    keepDays: null,
    now: () => nowMs,
    say: (line) => void said.push(line),
  });
  const names = (own: string) =>
    readdirSync(join(folder, "acme", own))
      .filter((name) => !name.endsWith(".txt"))
      .toSorted();
  for (let look = 0; look < 12; look++) {
    nowMs += 60_000;
    await inbox.look();
  }
  return { names, said, reason: (name: string) => readFileSync(join(folder, "acme/failed", `${name}.txt`), "utf8") };
}

test("a file that is read without an end goes to failed/ with the reason, and the others are imported", async () => {
  const { names, reason } = await importing("uploads", {
    "a.csv": "",
    "b-endless.csv": "",
    "c.csv": "",
    "d-waits.csv": "",
  });
  expect([names("done"), names("failed")]).toEqual([["a.csv", "c.csv", "d-waits.csv"], ["b-endless.csv"]]);
  expect(reason("b-endless.csv")).toMatch(/^It could not be read in .*\. Nothing was imported from it\./);
});

test("a file that ends the process again and again goes to failed/, and the others are imported", async () => {
  const { names, said } = await importing("uploads", { "a-fatal.csv": "", "b.csv": "" });
  expect([names("done"), names("failed")]).toEqual([["b.csv"], ["a-fatal.csv"]]);
  expect(said).toHaveLength(3);
  expect(said[0]).toBe("acme/a-fatal.csv: it is tried again within a minute: Its import ended unexpectedly (SIGKILL).");
});

test("of the deliveries of a minute, only the one that is read without an end goes to failed/", async () => {
  const lines = ["1", "2", "3 endless", "4", "5"].map((text) => `${text}\n`);
  const { names, said } = await importing("deliveries", { "deliveries.ndjson": lines.join("") });
  const [failed = ""] = names("failed");
  expect(names("failed")).toHaveLength(1);
  expect(said.filter((line) => line.endsWith(": done"))).toHaveLength(2);
  expect(failed).toBe("deliveries-1-2.ndjson");
});
