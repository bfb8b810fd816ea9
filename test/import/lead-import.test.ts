/** bun admin lead import: its counts, its messages, and its result. */
import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { anAdmin } from "../support/admin.ts";

const two = "email,city\ndana@example.com,Reno\nlee@example.com,Austin\n";
const px = ["--pixel", "px"];
const shape = "import,read,imported,duplicates,replaced,moved,late,suppressed,rejected,passed,warnings,vendor";

describe("the same rows are imported", () => {
  test.each<[string, string | Uint8Array]>([
    ["as CSV", two],
    ["as CSV of Windows-1252", Buffer.from(`${two}zo\u00eb@example.com,San Jos\u00e9\n`, "latin1")],
    ["as CSV of UTF-16", Buffer.from(`\ufeff${two}`, "utf16le")],
    ["as gzipped CSV", gzipSync(two)],
    ["as gzip in several members", Buffer.concat([gzipSync(two.slice(0, 30)), gzipSync(two.slice(30))])],
    ["as NDJSON", '{"email":"dana@example.com","city":"Reno"}\n{"email":"lee@example.com","city":"Austin"}\n'],
    [
      "as gzipped NDJSON",
      gzipSync('{"email":"dana@example.com","city":"Reno"}\n{"email":"lee@example.com","city":"Austin"}'),
    ],
  ])("%s, from a file with any name and from standard input", async (_, content) => {
    const admin = anAdmin(["acme", "other"]);
    const file = admin.put("export.dat", content);
    const fromFile = await admin.run("lead", "import", "other", file, ...px, "--create-pixels", "--json");
    const fromInput = await admin.import(content, ...px);
    expect(fromInput.json).toEqual({ ...fromFile.json, import: 2 });
    for (const account of ["acme", "other"]) {
      const leads = await admin.leads(account);
      expect(leads.slice(0, 2).map(({ email, city }) => [email, city])).toEqual([
        ["dana@example.com", "Reno"],
        ["lee@example.com", "Austin"],
      ]);
    }
  });
});

test("warnings count dropped and changed values", async () => {
  const admin = anAdmin();
  const text =
    '{"email":"a@example.com","state":"Ontario"}\n{"email":"b@example.com","state":"XX"}\n' +
    '{"email":"none","name":"Dana"}\n{"email":"zo\u00eb@example.com"}\n';
  const { stderr } = await admin.import(Buffer.from(text, "latin1"), "--pixel", "px", "--map", "Plan=company");
  expect(stderr.split("\n").filter((line) => line.startsWith("Warning"))).toEqual([
    "Warning: 1 line is not UTF-8, and read as Windows-1252.",
    "Warning: 2 rows: the state is not a US state, so it was left empty.",
    "Warning: 1 row: the email address is not valid, so it was left empty.",
    'Warning: --map names "Plan", but the file has no such name.',
  ]);
});

test.each([
  ["Name,Email\nDana,d@example.com\n", "Emial=email", 'Did you mean "Email"? Its columns are Name, Email.'],
  ["Dana,d@example.com\nLee,l@example.com\n", "Dano=name", "The first line looks like data, not like a header."],
])("suggests a column for a mistyped one in --map, but no value: %j", async (text, map, says) => {
  const { status, stderr } = await anAdmin().import(text, ...px, "--map", map);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`the file has no such column. ${says}`)]);
});

test("--json prints the counts as one value, and everything else goes to standard error", async () => {
  const { json, stderr, status } = await anAdmin().import(two, ...px);
  expect(Object.keys(json).join()).toBe(shape);
  expect({ ...json, status }).toMatchObject({ status: 0, read: 2, imported: 2, rejected: 0 });
  expect(stderr).toContain("Reading standard input as CSV.");
});

test("prints the column that gave each value before the import, and no --map for the address of somebody else", async () => {
  const text = "date,Shoe Size,Work Email,Personal Email,Owner Email,a\n2026-01-31,42,,d@example.com,o@example.com,\n";
  const { stderr } = await anAdmin().import(text, ...px, "--dry-run");
  expect(stderr).toMatch(/email +Personal Email$/m);
  expect(stderr).toContain("Not kept: Shoe Size, Owner Email, a.");
  expect(stderr).not.toContain("--map");
});

test("--map is checked against the file, also if its header is read long before its rows", async () => {
  const admin = anAdmin();
  const header = await admin.import("Handle,Ciudad\n", ...px, "--map", "Handle=email");
  expect({ status: header.status, stderr: header.stderr }).toMatchObject({ status: 0 });
  const { status } = await admin.import("Handle\nd@example.com\n", ...px, "--map", "Handle=email");
  expect({ status, leads: (await admin.leads()).length }).toEqual({ status: 0, leads: 1 });
});

test("--create-pixels creates the pixels of the file; without it, their rows are rejected", async () => {
  const admin = anAdmin();
  await admin.run("pixel", "create", "acme", "--id", "px_known");
  const file = admin.put(
    "export.csv",
    "pixel_id,email\npx_known,a@example.com\npx_new,b@example.com\n,c@example.com\n",
  );
  const strict = await admin.run("lead", "import", "acme", file, "--json");
  expect({ ...strict.json, status: strict.status }).toMatchObject({ read: 3, imported: 1, rejected: 2, status: 3 });
  const loose = await admin.run("lead", "import", "acme", file, "--json", "--create-pixels", "--pixel", "px_rest");
  expect({ ...loose.json, status: loose.status }).toMatchObject({ read: 3, imported: 2, duplicates: 1, status: 0 });
  const { stdout } = await admin.run("pixel", "list", "acme", "--json");
  expect(JSON.parse(stdout).map((pixel: { id: string }) => pixel.id)).toEqual(["px_known", "px_new", "px_rest"]);
});

test("read is the sum of the outcomes of all records", async () => {
  const admin = anAdmin();
  const plain = "v1 a@example.com b@example.com 2026-01-31 never".split(" ");
  const cell = fc.constantFrom(
    ...["", ...plain, '"a\nb"', '"a ""b"""', '"a"b', '"open', ' "x" ', "a,b", "\0", "\ud83d", '"a\r\n,b"'],
  );
  const record = fc.array(cell, { minLength: 1, maxLength: 5 }).map((cells) => cells.join(","));
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { maxLength: 12 }),
      fc.constantFrom([], ["--on-duplicate", "replace"], ["--stamp", "arrival"]),
      async (records, options) => {
        const text = `id,date,email,notes\n${records.join("\n")}\n`;
        // Notes that are dates, where no row has one in its own column, are a doubt that needs an answer.
        const { json } = await admin.import(text, ...px, "--map", "notes=-", ...options);
        const parts = ["imported", "duplicates", "replaced", "suppressed", "rejected"].map((name) =>
          Number(json[name]),
        );
        expect(parts.reduce((sum, part) => sum + part)).toBe(Number(json["read"]));
      },
    ),
    { numRuns: 25 },
  );
});

describe("a file in which no row names a pixel", () => {
  test.each([
    ["without the column", "email\na@example.com\nb@example.com\n"],
    ["with an empty column", "email,pixel_id\na@example.com,\nb@example.com,\n"],
    ["of JSON", '{"email":"a@example.com"}\n{"email":"b@example.com"}\n'],
  ])("is rejected once, with the flag to add: %s", async (_, text) => {
    const admin = anAdmin();
    for (const options of [[], ["--dry-run"]]) {
      const { status, stderr } = await admin.import(text, ...options);
      expect([status, stderr]).toEqual([1, expect.stringContaining("Add --pixel")]);
      expect(stderr).not.toContain("was rejected");
    }
    expect(await admin.leads()).toEqual([]);
  });

  test("is imported if one row names one, and the others are rejected", async () => {
    const { json } = await anAdmin().import("email,pixel_id\na@example.com,\nb@example.com,px\n");
    expect(json).toMatchObject({ imported: 1, rejected: 1 });
  });
});

test("a dry run shows each column with its field, and the first, the middle, and the last lead as served", async () => {
  const rows = ["a", "b", "c", "d", "e"].map((name) => `2026-01-31,${name}@example.com,x\n`).join("");
  const { json } = await anAdmin().import(`date,Email,Owner Email\n${rows}`, ...px, "--dry-run");
  expect(json["columns"]).toEqual([
    { column: "date", field: "identified_at" },
    { column: "Email", field: "email" },
    { column: "Owner Email", field: null },
  ]);
  const sample: unknown = json["sample"];
  expect(sample).toMatchObject(["a", "c", "e"].map((name) => ({ email: `${name}@example.com`, pixel_id: "px" })));
  expect(Object.keys((sample as object[])[0] ?? {})).toHaveLength(20); // As a lead is served.
});

test.each(["PK", "BZh", "SQLi"])("a CSV whose first header is %s is a CSV", async (header) => {
  const { json } = await anAdmin().import(`${header},email\n1,d@example.com\n`, ...px);
  expect(json).toMatchObject({ imported: 1 });
});

test.each([
  ["Time,Date", "15:04,2026-01-05", "Date + Time"],
  ["visit_date,visit_time", "2026-01-05,3:04 PM", "visit_date + visit_time"],
  ["Event Time,Event Date (UTC),date", "15:04,2026-01-05,", "Event Date (UTC) + Event Time"],
  ["timestamp,Date,Time", "2026-01-05T15:04:00Z,2026-01-05,15:04", "timestamp"],
])("columns %s are shown as they are read: a date and a time are joined", async (header, values, shown) => {
  const admin = anAdmin();
  const { stderr } = await admin.import(`${header},email,pixel_id\n${values},a@example.com,px\n`);
  expect(/^identified_at +(.*)$/m.exec(stderr)?.[1]?.split(", ")[0]).toBe(shown);
  expect(await admin.leads()).toMatchObject([{ identified_at: "2026-01-05T15:04:00.000Z" }]);
});
