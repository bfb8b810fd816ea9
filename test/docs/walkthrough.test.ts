/** Every command and every program of the documents does what the document says. */
import { expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { argumentsOf, blocksOf, patternOf, walk } from "./walkthrough.ts";

const root = join(import.meta.dir, "../..");

// page.test.ts runs the programs of docs/api.md.
test.each(["README.md", "docs/getting-started.md", "docs/importing.md"])(
  "every command of %s works as printed",
  async (path) => {
    expect(await walk(path)).toEqual([]);
  },
);

// These pages have no server, and nothing for a shell but quotes.
test.each(readdirSync(join(root, "docs/importing")))("every command of docs/importing/%s works", async (name) => {
  const admin = anAdmin([]);
  cpSync(join(root, "test/import/samples"), admin.folder, { recursive: true });
  let said = "";
  for (const { info, text } of blocksOf(readFileSync(join(root, "docs/importing", name), "utf8"))) {
    if (info === "") expect(said).toMatch(patternOf(text));
    for (const line of info === "sh" ? text.trimEnd().split("\n") : []) {
      const ended = await admin.run(...argumentsOf(line));
      expect([line, ended.status]).toEqual([line, 0]);
      said = ended.stderr + ended.stdout;
    }
  }
});
