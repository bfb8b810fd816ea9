/** --rejects: rejected rows with line and reason, which can be mended and imported as they are. */
import { expect, test } from "bun:test";
import { existsSync, linkSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { type Admin, anAdmin } from "../support/admin.ts";

const px = ["--pixel", "px"];

async function importRejecting(admin: Admin, text: string, ...options: readonly string[]) {
  const rejects = join(admin.folder, "rejects");
  rmSync(rejects, { force: true });
  const ended = await admin.import(text, ...px, "--rejects", rejects, ...options);
  return { ...ended.json, status: ended.status, written: existsSync(rejects) ? readFileSync(rejects, "utf8") : "" };
}

const importFile = (admin: Admin, file: string, rejects: string, ...options: readonly string[]) =>
  admin.run("lead", "import", "acme", file, ...px, "--create-pixels", "--rejects", rejects, ...options);

const table = (text: string, delimiter = ",") => parse(text, { delimiter, relax_column_count: true }) as string[][];

test("rejected CSV rows have the same header, their line, and the reason", async () => {
  const text =
    'date;email;notes\n2026-01-31;a@example.com;ok\n31/31/2026;b@example.com;"two\nlines; ""said"""\n\n2026-01-31;;\n';
  const { written, status } = await importRejecting(anAdmin(), text);
  expect(status).toBe(3);
  expect(table(written, ";")).toEqual([
    ["date", "email", "notes", "reject_line", "reject_reason"],
    ["31/31/2026", "b@example.com", 'two\nlines; "said"', "3", expect.stringContaining("31/31/2026")],
    ["2026-01-31", "", "", "6", expect.stringContaining("it has no value except")],
  ]);
});

test("trailing empty rows are not reported as damaged rows", async () => {
  const text = `date,email\n2026-01-31,a@example.com\nnever,b@example.com\n${",\n".repeat(20)}`;
  const { status, json, stderr } = await anAdmin().import(text, ...px);
  expect([status, json]).toMatchObject([3, { read: 22, imported: 1, rejected: 21 }]);
  expect(stderr.match(/^.*reject.*$/gm)).toEqual([
    "Read 22 rows: 1 accepted, 21 rejected.",
    expect.stringContaining("Line 3 was rejected: "),
    "20 rejected rows are empty, as is common at the end of a spreadsheet. No data is lost.",
  ]);
});

test.each([",", ";", "\t", "|"])(
  "nothing of a rejected row is lost, whatever is in its cells, with %j between them",
  async (delimiter) => {
    const odd = ["=1+1", 'a"b', `a${delimiter}b`, "a\nb", "a\rb", " a ", "[1]", "'", "é😀", "\ufeffx"];
    const cells = ["never", "d@example.com", ...odd];
    const names = ["date", "email", ..."abcdefghij"];
    const write = (row: readonly string[]) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter);
    const { written } = await importRejecting(anAdmin(), `${write(names)}\n${write(cells)}\n`);
    const [, row] = table(written, delimiter);
    expect(row?.slice(0, cells.length)).toEqual(cells);
  },
);

test("a corrected rejects file can be imported, and rows that are still wrong are rejected again", async () => {
  const admin = anAdmin();
  const text = "date,email,name\n31/31/2026,b@example.com,B\nnever,c@example.com,C\n2026-01-31,a@example.com,A\n";
  const first = await importRejecting(admin, text);
  expect(first).toMatchObject({ imported: 1, rejected: 2 });
  const second = await importRejecting(admin, first.written.replace("31/31/2026", "2026-01-30"));
  expect(second).toMatchObject({ read: 2, imported: 1, rejected: 1, status: 3 });
  const third = await importRejecting(admin, second.written.replace("never", "2026-01-29"));
  expect(third).toMatchObject({ read: 1, imported: 1, rejected: 0, status: 0 });
  expect((await admin.leads()).map(({ name }) => name)).toEqual(["C", "B", "A"]);
});

test("an uncorrected rejects file is rejected again", async () => {
  const admin = anAdmin();
  const text =
    'date,email,name\nnever,a@example.com,A\n2026-01-31,b@example.com\n2026-01-31,c@example.com,C,D\n"open,x,y\n,,\n' +
    "date,email,name\n";
  const first = await importRejecting(admin, text);
  expect(first).toMatchObject({ read: 6, rejected: 6 });
  expect(await importRejecting(admin, first.written)).toMatchObject({ read: 6, imported: 0, rejected: 6, status: 3 });
});

test("columns without a name or with the name of another are read as the columns that they were", async () => {
  const admin = anAdmin();
  const { written } = await importRejecting(admin, "email,,email,date\n,x,a@example.com,never\n");
  await importRejecting(admin, written.replace("never", "2026-01-31"));
  expect((await admin.leads()).map(({ email }) => email)).toEqual(["a@example.com"]);
});

test("rejected NDJSON lines have their text, and can be corrected and imported", async () => {
  const admin = anAdmin();
  const good = '{"email":"a@example.com","date":"2026-01-31"}';
  const bad = ['{"email":"b@example.com","date":"never"}', "[1]", '{"email":', '{"email":"\\u0000"}'];
  const first = await importRejecting(admin, [good, ...bad].join("\n"));
  const lines = first.written.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    bad.map((row, number) => ({ reject_line: number + 2, reject_reason: expect.any(String), row })),
  );
  expect(await importRejecting(admin, first.written)).toMatchObject({ read: 4, imported: 0, rejected: 4 });
  expect(await importRejecting(admin, first.written.replaceAll("never", "2026-01-30"))).toMatchObject({
    imported: 1,
    rejected: 3,
  });
});

test("rows with an unknown pixel go to the rejects file, and accepted rows create none", async () => {
  const admin = anAdmin();
  const rejects = join(admin.folder, "rejects");
  const file = admin.put("export.csv", "pixel_id,email\npx_new,a@example.com\n");
  const importing = ["lead", "import", "acme", file, "--rejects", rejects];
  expect(await admin.run(...importing)).toMatchObject({ status: 3 });
  expect(table(readFileSync(rejects, "utf8"))[1]).toEqual([
    "px_new",
    "a@example.com",
    "2",
    expect.stringContaining("px_new"),
  ]);
  expect(await admin.run(...importing, "--create-pixels")).toMatchObject({ status: 0 });
  expect(existsSync(`${rejects}-2`)).toBe(false);
});

const good = "date,email\n2026-01-31,a@example.com\n";

test.each(["the file itself", "a hard link to it", "standard input"])(
  "--rejects never writes over what is read: %s",
  async (what) => {
    const admin = anAdmin();
    const source = admin.put("in.csv", good);
    const rejects = what === "a hard link to it" ? join(admin.folder, "link.csv") : source;
    if (rejects !== source) linkSync(source, rejects);
    const file = what === "standard input" ? "-" : source;
    const args = ["lead", "import", "acme", file, ...px, "--create-pixels", "--rejects", rejects];
    const { exited } = admin.startUnder(["sh", "-c", '"$@" < in.csv', "sh"], args);
    expect([await exited, (await admin.leads()).length]).toEqual([0, 1]);
    expect(readFileSync(source, "utf8")).toBe(good);
  },
);

test.each<[string, (database: string) => string, string]>([
  ["the database", (database) => database, "--rejects names a file of the database"],
  ["the log", (database) => `${database}-wal`, "--rejects names a file of the database"],
  ["its lock requests", (database) => `${database}.asking`, "--rejects names a file of the database"],
  ["the lock of its server", (database) => `${database}.serving`, "--rejects names a file of the database"],
  [
    "the log of its rqlite node",
    (database) => join(dirname(database), "raft.db"),
    "--rejects names a file of the database",
  ],
  ["standard output", () => "-", "--rejects is -, which is not a file. Name a file."],
])("--rejects that names %s, there or not, is refused", async (_, pathOf, reason) => {
  const admin = anAdmin();
  const ended = await admin.import(good, ...px, "--create-pixels", "--rejects", pathOf(admin.file));
  expect(ended).toMatchObject({ status: 2, stderr: expect.stringContaining(reason) });
  expect(await admin.leads()).toEqual([]);
});

test("a dry run and a rejected import leave the rejects file unchanged", async () => {
  const admin = anAdmin();
  const rejects = admin.put("rejects.csv", "from before\n");
  const bad = "date,email\nnever,a@example.com\n";
  const file = admin.put("bad.csv", bad);
  const tried = await importFile(admin, file, rejects, "--dry-run");
  expect([tried.status, tried.stdout.replaceAll(/\s+/g, " ")]).toEqual([
    3,
    expect.stringContaining("an import writes them to"),
  ]);
  const cut = gzipSync(bad.repeat(2000)).subarray(0, 60);
  expect(await admin.import(cut, ...px, "--rejects", rejects)).toMatchObject({ status: 1 });
  expect(readFileSync(rejects, "utf8")).toBe("from before\n");
});

test.each<[string, (folder: string) => string]>([
  ["in a folder that is not there", (folder) => join(folder, "missing/rejects.csv")],
  ["which is a folder", (folder) => folder],
  ["on a full disk", () => "/dev/full"],
])("an error names the rejects file %s, and nothing is imported", async (_, pathIn) => {
  const admin = anAdmin();
  const path = pathIn(admin.folder);
  const { status, stderr } = await admin.import(`${good}never,b@example.com\n`, ...px, "--rejects", path);
  expect([status, stderr.trimEnd().split("\n").at(-1)]).toEqual([1, expect.stringContaining(path)]);
  expect(stderr).not.toContain(admin.file);
  expect(await admin.leads()).toEqual([]);
});

test("--rejects appends the next free number to the name of an existing file, and prints it", async () => {
  const admin = anAdmin();
  const rejects = admin.put("rejects.csv", "from before\n");
  admin.put("rejects-2.csv", "from before, too\n");
  const file = admin.put("bad.csv", `${good}never,b@example.com\n`);
  const { stdout } = await importFile(admin, file, rejects);
  expect(stdout).toContain("rejects-3.csv");
  const { stderr } = await importFile(admin, file, rejects, "--json");
  expect(stderr).toContain(`The rejected rows are in ${join(admin.folder, "rejects-4.csv")}.\n`);
  expect(readFileSync(rejects, "utf8")).toBe("from before\n");
  expect(readFileSync(join(admin.folder, "rejects-3.csv"), "utf8")).toContain("never,b@example.com,3,");
});

test.each([
  ["CSV", `date,name,a,b\nnever,Dana,${"x".repeat(60_000)},${"x".repeat(60_000)}\n`],
  ["NDJSON", `{"date":"never","name":"Dana","a":"${"x".repeat(500_000)}"}\n`],
])("a rejected row of %s is kept up to 64 KiB, and rejected again until it is completed", async (_, text) => {
  const { written } = await importRejecting(anAdmin(), text);
  expect(written.length).toBeGreaterThan(60_000);
  expect(written.length).toBeLessThan(66_500);
  const again = await anAdmin().import(written.replace("never", ""), "--pixel", "px", "--json");
  expect(again.json).toMatchObject({ imported: 0, rejected: 1 });
});

test("a rejected row that is cut in a cell beyond the header is rejected again", async () => {
  const row = `d@example.com,Lee,Dana ${"x".repeat(50_000)},px,${"x".repeat(20_000)}`;
  const { written } = await importRejecting(anAdmin(), `email,name,page_url,pixel_id\n${row}\n`);
  const again = await anAdmin().import(written, "--pixel", "px", "--json");
  expect(again.json).toMatchObject({ imported: 0, rejected: 1 });
});
