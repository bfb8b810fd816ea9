/** bun admin lead export: every lead as served, in formats that can be imported again byte for byte. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { leadFields } from "../../src/contract/lead.ts";
import { anAdmin } from "../support/admin.ts";
import { aLead } from "../support/builders.ts";
import { copyLead } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { needing } from "../support/needing.ts";
import { askingFor } from "../support/write-lock.ts";

/** Values that some format, spreadsheet, or parser treats in a special way. */
const words =
  'null N/A \\N [] ["a","b"] =1+1 +1 @x -1 \\u0000 </script> {} {"a":1} 007 1e5 true undefined __proto__ sep=;';
const nasty = [
  ...[..."-[],;|#0'\"\\\t\n", "", " ", '""', "1", "2]", "[1", "\r", "\r\n", "a\nb", "a\r\nb", "a\rb"],
  ...words.split(" "),
  ...['="x"', "#N/A", "619-555-0123 x45", "N/A\nhttps://a.example/?q=1", '["a","b"] https://a.example/?q=1'],
  ...["é", "e\u0301", "😀", "\ud83d", "\u2028", "\u00a0", "\u202e", "\ufeff", "\u001b[31m"],
];
const value = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ unit: "binary" }),
  fc.tuple(fc.constantFrom(...nasty), fc.string()).map((both) => both.join("")),
);
const withoutNul = value.map((text) => text.replaceAll("\0", ""));
const mail = fc
  .tuple(fc.constantFrom("a", "'=1", '"x', "é", "+"), fc.constantFrom("example.com", "[127.0.0.1]", "é"))
  .map((both) => both.join("@"));

const instant = fc.date({ min: new Date("0001-01-02"), max: new Date("2026-01-01"), noInvalidDate: true });
const row = fc
  .record({
    identified_at: instant.map((date) => date.toISOString()),
    ...{ name: fc.option(withoutNul), first_name: withoutNul, last_name: withoutNul },
    ...{ email: fc.oneof(mail, withoutNul), verified_email: mail },
    ...{ phone: withoutNul, company: withoutNul, city: withoutNul, state: fc.constantFrom("ca", "New York", "x") },
    ...{ page_url: withoutNul, referrer: withoutNul, age_range: withoutNul, traffic_source: withoutNul },
  })
  .map((fields) => ({ id: crypto.randomUUID(), ...fields }));

test("any leads, exported and imported again, are the same documents, and export to the same bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 200, maxLength: 300 }), async (rows) => {
      const admin = anAdmin(["acme", "lines", "table"]);
      const lines = rows.map((fields) => `${JSON.stringify(fields)}\n`).join("");
      expect((await admin.import(lines, "--pixel", "px_é,1")).json).toMatchObject({ imported: rows.length });
      const exported = await admin.exported();
      for (const [account, options] of [
        ["lines", []],
        ["table", ["--format", "csv"]],
      ] as const) {
        const text = await admin.exported("acme", ...options);
        const ended = await admin.give(text, "lead", "import", account, "-", "--create-pixels", "--json");
        const counts = { imported: rows.length, moved: 0, rejected: 0, status: 0 };
        expect({ ...ended.json, status: ended.status }).toMatchObject(counts);
        expect(await admin.exported(account)).toBe(exported);
        expect(await admin.exported(account, ...options)).toBe(text);
      }
    }),
    { numRuns: 2, endOnFailure: true },
  );
});

test("two parts of a name that look like a list together stay a name", async () => {
  const admin = anAdmin(["acme", "other"]);
  await admin.import('{"first_name":"[1,","last_name":"2]","email":"d@example.com"}\n', "--pixel", "px");
  const exported = await admin.exported();
  await admin.give(exported, "lead", "import", "other", "-", "--create-pixels");
  expect(await admin.exported("other")).toBe(exported);
});

test("an export has the leads of its account alone, oldest first: NDJSON in the order of the API, CSV with a header", async () => {
  const admin = anAdmin(["acme", "other"]);
  const leads = [aLead(), aLead(), aLead()];
  const newestFirst = leads.toReversed().map((lead) => `${JSON.stringify(lead)}\n`);
  await admin.import(newestFirst.join(""));
  const lines = (await admin.exported()).split("\n");
  expect(lines).toEqual([...leads.map((lead) => JSON.stringify(lead)), ""]);
  expect(Object.keys(JSON.parse(lines[0] ?? ""))).toEqual(leadFields);
  expect(await admin.exported("other")).toBe("");
  expect(await admin.exported("other", "--format", "csv")).toBe(`${leadFields.join(",")}\n`);
});

test("a cell that a spreadsheet would run is escaped only with --spreadsheet-safe", async () => {
  const admin = anAdmin();
  const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", "＋1", "－1", "＠SUM(A1)", "=cmd|'/c calc'!A1"];
  const plain = ["plain", "|calc", "%0A=1"];
  const leads = [...formulas, ...plain].map((company) => `${JSON.stringify(aLead({ company }))}\n`);
  await admin.import(leads.join(""));
  const companies = async (...options: string[]) => {
    const table = parse(await admin.exported("acme", "--format", "csv", ...options));
    return table.slice(1).map((cells) => cells[leadFields.indexOf("company")]);
  };
  expect(await companies()).toEqual([...formulas, ...plain]);
  expect(await companies("--spreadsheet-safe")).toEqual([...formulas.map((formula) => `'${formula}`), ...plain]);
});

test("an export for spreadsheets begins with the mark of UTF-8, and can be imported again", async () => {
  const admin = anAdmin(["acme", "copy"]);
  await admin.import(`${JSON.stringify(aLead({ name: "José Müller" }))}\n`);
  const file = join(admin.folder, "leads.csv");
  const words = ["lead", "export", "acme", "--format", "csv", "--spreadsheet-safe"];
  expect(await admin.startUnder([], words, { output: openSync(file, "w") }).exited).toBe(0);
  expect([...readFileSync(file).subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  await admin.run("lead", "import", "copy", file, "--create-pixels");
  expect(await admin.leads("copy")).toEqual(await admin.leads());
});

// A program such as Node.js sets the shared pipe to non-blocking.
const impatient =
  "import fcntl, os, sys; fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK); os.execv(sys.argv[1], sys.argv[1:])";
/** Runs a program whose output is not read until the file `go` exists. */
const slowReader = `{ sh -c 'echo $$ >pid; exec "$@"' sh "$@"; echo $? >status; } |
  { until [ -e go ]; do sleep 0.05; done; cat; }`;

needing("python3")("a slow reader gets all of an export", async () => {
  const admin = anAdmin();
  await admin.import("pixel_id,email,date\npx,d0@example.com,2026-01-31\n");
  copyLead(admin, 2_999, "x".repeat(500));
  const reading = ["sh", "-c", slowReader, "sh", "python3", "-c", impatient];
  const { exited, output, errors } = admin.startUnder(reading, ["lead", "export", "acme"]);
  const said = (name: string) => readFileSync(join(admin.folder, name), "utf8");
  // The pipe is full once it writes no more.
  let before = 0;
  await eventually(async () => {
    const now = Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${said("pid").trim()}/io`, "utf8"))?.[1]);
    const hasStopped = now >= 65_536 && now === before;
    before = now;
    expect(hasStopped).toBe(true);
  });
  admin.put("go", "");
  expect([await exited, errors(), said("status")]).toEqual([0, "", "0\n"]);
  expect(output().trimEnd().split("\n")).toHaveLength(3_000);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends an export to a file with a line that says that the file is incomplete", async (signal, status) => {
  const admin = anAdmin();
  await admin.import(`${JSON.stringify(aLead())}\n`);
  using other = new Database(admin.file);
  other.run("BEGIN IMMEDIATE");
  const hasAsked = askingFor(admin.file);
  const output = openSync(join(admin.folder, "leads.ndjson"), "w");
  const { end, errors } = admin.startUnder([], ["lead", "export", "acme"], { output });
  // It is recording the export.
  await hasAsked();
  const ended = end(signal);
  other.run("COMMIT");
  expect([await ended, errors()]).toEqual([
    status,
    "Stopped: the output does not have all leads. Run the export again.\n",
  ]);
});

const untilFirstByte = ["bash", "-o", "pipefail", "-c", '"$@" | head -c 1', "-"];

test("a reader that closes the pipe ends an export without an error", async () => {
  const admin = anAdmin();
  await admin.import("pixel_id,email,date\npx,d0@example.com,2026-01-31\n");
  copyLead(admin, 5_000, "x".repeat(500));
  // The pipe may close before, during, or after a write.
  for (let attempt = 0; attempt < 6; attempt++) {
    const { exited, errors } = admin.startUnder(untilFirstByte, ["lead", "export", "acme"]);
    expect([await exited, errors()]).toEqual([0, ""]);
  }
});
