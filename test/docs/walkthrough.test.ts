/** Every command and every program of the documents does what the document says. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { argumentsOf, blocksOf, walk } from "./walkthrough.ts";

const root = join(import.meta.dir, "../..");

// page.test.ts runs the programs of docs/api.md.
test.each(["README.md", "docs/getting-started.md", "docs/importing.md"])(
  "every command of %s works as printed",
  async (path) => {
    expect(await walk(path)).toEqual([]);
  },
);

// The page on vendors has no server, and nothing for a shell but quotes.
test("every command of docs/importing/vendors.md works", async () => {
  const admin = anAdmin([]);
  for (const { info, text } of blocksOf(readFileSync(join(root, "docs/importing/vendors.md"), "utf8"))) {
    for (const line of info === "sh" ? text.trimEnd().split("\n") : []) {
      const ended = await admin.run(...argumentsOf(line));
      expect([line, ended.status]).toEqual([line, 0]);
    }
  }
});
