/** Every command and every program of the documents does what the document says. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { startOnTerminal } from "../support/terminal.ts";
import { aClone, argumentsOf, blocksOf, pathWithBun, walk } from "./walkthrough.ts";

const root = join(import.meta.dir, "../..");

// programs.test.ts runs the programs of docs/api.md.
test.each(["README.md", "docs/getting-started.md", "docs/importing.md"])(
  "every command of %s works as printed",
  async (path) => {
    expect(await walk(path)).toEqual([]);
  },
);

test("the commands of the README that import leads can be pasted into a terminal as one block", async () => {
  const blocks = blocksOf(readFileSync(join(root, "README.md"), "utf8"));
  const pasted = blocks.find(({ text }) => text.includes("lead import"))?.text ?? "";
  const folder = aClone();
  const shell = startOnTerminal(["bash", "--norc", "--noprofile"], { PATH: pathWithBun, HOME: folder });
  // The terminal does not show the sum before it is computed.
  shell.type(`cd ${folder}\n${pasted}echo done-$((40 + 2))\n`);
  await shell.seen(/done-42/);
  shell.close();
  using database = new Database(join(folder, "data/leadfile.db"), { readonly: true });
  const rowsOf = (table: string) => database.query(`SELECT * FROM ${table}`).all().length;
  expect([rowsOf("stored_leads") > 0, rowsOf("keys")]).toEqual([true, 1]);
});

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
