/** Every command and every program of the documents does what the document says. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { walk } from "./walkthrough.ts";

const vendors = readdirSync(join(import.meta.dir, "../../docs/importing")).map((name) => `docs/importing/${name}`);

// page.test.ts runs the programs of docs/api.md.
test.each(["README.md", "docs/getting-started.md", "docs/importing.md", ...vendors])(
  "every command of %s works as printed",
  async (path) => {
    expect(await walk(path)).toEqual([]);
  },
);
