/** Exports in the styles of vendors, with made-up people: what each becomes. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { anAdmin, readLeads } from "../support/admin.ts";
import { samples } from "./samples.ts";

const folder = join(import.meta.dir, "samples");

/** The fields of each lead that are not null, oldest first; ids are made from the account, which is another each time. */
const expected = (file: string) =>
  readLeads(readFileSync(join(import.meta.dir, "expected", file.replace(/\.\w+$/, ".ndjson")), "utf8"));

function given({ id: _, ...lead }: Lead): unknown {
  return Object.fromEntries(Object.entries(lead).filter(([, value]) => value !== null));
}

test("every sample has its expected leads", () => {
  expect(readdirSync(folder).toSorted()).toEqual(samples.map(({ file }) => file).toSorted());
});

test.each(samples.map((sample) => [sample.file, sample] as const))(
  "%s becomes the leads that it means, and nothing more when it comes again",
  async (file, { options, notKept, counts }) => {
    const admin = anAdmin();
    const importing = () =>
      admin.run("lead", "import", "acme", join(folder, file), "--json", "--create-pixels", ...options);
    const first = await importing();
    const stored = await admin.leads();
    expect<unknown[]>(stored.map(given)).toEqual(expected(file));
    expect({ status: first.status, ...first.json }).toMatchObject({ status: 0, rejected: 0, ...counts });
    const told = /^Not kept: (.*)\.$/m.exec(first.stderr)?.[1]?.split(", ") ?? [];
    expect(told).toEqual(expect.arrayContaining([...notKept]));

    expect((await importing()).json).toMatchObject({ imported: 0, duplicates: stored.length });
    expect(await admin.leads()).toEqual(stored);
  },
);
