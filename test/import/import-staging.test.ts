/** A file is read completely before its first lead is stored: the messages until then, and the end of an import before that. */
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "../support/admin.ts";
import { endWithTest } from "../support/child.ts";
import { until } from "../support/eventually.ts";
import { launch } from "../support/process.ts";

const px = ["--pixel", "px", "--create-pixels"];

const program = join(import.meta.dir, "../../src/admin.ts");

/** An import of standard input that waits for more of it, and has said which column is what: rows are read from then on. */
async function waiting({ folder, file }: Admin, under: readonly string[] = []) {
  const command = [...under, process.execPath, program, "lead", "import", "acme", "-", ...px];
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, DATABASE_PATH: file };
  const running = launch(command, { cwd: folder, env, input: aThousandRows });
  endWithTest(running.child);
  await until(() => running.errors().includes("as CSV"));
  return running;
}

const aThousandRows = `date,email\n${Array.from({ length: 1000 }, (_, n) => `2026-01-31,d${n}@example.com\n`).join("")}`;

/** The files of a folder apart from the database with its lock, and from what Bun keeps in the home folder. */
const othersIn = (folder: string) =>
  readdirSync(folder).filter((name) => !/^(\.bun|leadfile\.db(-shm|-wal|\.serving)?)$/.test(name));

test("while a file is read nothing of it is served, and no file is next to the database", async () => {
  const admin = anAdmin();
  const { child, exited } = await waiting(admin);
  expect(await admin.leads()).toEqual([]);
  expect(othersIn(admin.folder)).toEqual([]);
  await child.stdin?.end();
  expect([await exited, (await admin.leads()).length]).toEqual([0, 1000]);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s while a file is read imports nothing, says so, and ends with %i", async (signal, status) => {
  const admin = anAdmin();
  const { end, errors } = await waiting(admin);
  expect(await end(signal)).toBe(status);
  expect(errors()).toMatch(/Nothing was imported\.\n$/);
  expect(await admin.leads()).toEqual([]);
  expect(othersIn(admin.folder)).toEqual([]);
});

test("under nohup, an import survives its terminal", async () => {
  const admin = anAdmin();
  const { child, exited } = await waiting(admin, ["sh", "-c", 'trap "" HUP; exec "$0" "$@"']);
  child.kill("SIGHUP");
  await child.stdin?.end();
  expect([await exited, (await admin.leads()).length]).toEqual([0, 1000]);
});

test("the oldest lead is stored first: of a newest-first file none is late, apart from those older than the newest stored one", async () => {
  const admin = anAdmin();
  const days = Array.from({ length: 9 }, (_, n) => `2026-01-0${9 - n}`);
  const file = `date,email\n${days.map((day) => `${day},d${day}@example.com\n`).join("")}`;
  expect((await admin.import(file, ...px)).json).toMatchObject({ imported: 9, late: 0 });
  const more = "date,email\n2026-01-20,x@example.com\n2026-01-08,y@example.com\n2026-01-19,z@example.com\n";
  const { json, stderr } = await admin.import(more, ...px);
  expect(json).toMatchObject({ imported: 3, late: 1 });
  // Reported before the first of them was stored.
  expect(stderr).toContain("from 2026-01-08T00:00:00.000Z to 2026-01-20T00:00:00.000Z");
  expect(stderr).toContain("\n1 is older than the newest lead of the account: ");
  // The file again is older as well, and nobody has passed the stored leads.
  expect((await admin.import(more, ...px)).stderr).toContain(
    "\n2 are older than the newest lead of the account: polling clients miss those that are new.",
  );
});

test("late leads reach clients with --stamp arrival after an undo, as the import advises", async () => {
  const admin = anAdmin();
  const imports = (rows: string, ...how: readonly string[]) => {
    const file = admin.put("late.csv", `date,email\n${rows}`);
    return admin.run("lead", "import", "acme", file, ...px, ...how);
  };
  await imports("2026-01-09,a@example.com\n");
  const late = "2026-01-08,b@example.com\n";
  const plain = (text: string) => text.replaceAll(/\s+/g, " ");
  expect(plain((await imports(late, "--dry-run")).stdout)).toEndWith(
    "polling clients missed them; --stamp arrival delivers them ",
  );
  expect(plain((await imports(late)).stdout)).toContain("--stamp arrival delivers them; undo this import first");
  await admin.run("import", "undo", "acme", "2");
  expect(plain((await imports(late, "--stamp", "arrival")).stdout)).toMatch(/^read 1 .* imported 1 /);
});

test("counts rows that share an ID but differ in time or page, and names the option that keeps them apart", async () => {
  const admin = anAdmin();
  const file =
    "id,date,email,page_url\np_1,2026-01-01,a@example.com,/a\np_1,2026-01-02,a@example.com,/a\n" +
    "p_1,2026-01-02,a@example.com,/b\np_2,2026-01-02,b@example.com,/a\np_3,2026-01-02,c@example.com,/a\n" +
    "p_3,2026-01-02,c@example.com,/a\n";
  const { json, stderr } = await admin.import(file, ...px);
  expect(json).toMatchObject({ imported: 3, duplicates: 3 });
  expect(stderr).toMatch(
    /^Warning: 3 rows have the ID of another row.*--map id=- to keep .* a spreadsheet has rounded it/m,
  );
  const apart = await admin.import(file, ...px, "--map", "id=-", "--dry-run");
  expect(apart.stderr).not.toContain("have the ID of another row");
  expect(apart.json).toMatchObject({ imported: 5, duplicates: 1 });
});

describe("ids that occur again in another file", () => {
  const file = (month: string) =>
    `ID,date,email\n1,2026-${month}-01,a${month}@example.com\n2,2026-${month}-02,b${month}@example.com\n`;
  const taken = /^Warning: at least 2 rows with the ID of a stored lead, .*--map ID=- to keep/m;

  test.each(["skip", "replace"])("are counted if the visits differ, also with %s", async (what) => {
    const admin = anAdmin();
    await admin.import(file("01"), ...px);
    const how = [...px, "--on-duplicate", what];
    expect((await admin.import(file("02"), ...how, "--dry-run")).stderr).toMatch(taken);
    expect((await admin.import(file("02"), ...how)).stderr).toMatch(taken);
    const apart = await admin.import(file("02"), ...how, "--map", "ID=-");
    expect([apart.json.imported, apart.stderr]).toEqual([2, expect.not.stringMatching(taken)]);
  });

  test.each([
    ["without a time", "ID,email\n", []],
    ["stamped on arrival", "date,ID,email\n2026-01-01,", ["--stamp", "arrival"]],
  ])("are reported if rows %s belong to other persons", async (_, beginning, stamp) => {
    const admin = anAdmin();
    const importOf = (email: string) => admin.import(`${beginning}1,${email}\n`, ...px, ...stamp);
    await importOf("dana@example.com");
    expect((await importOf("Dana@example.com")).stderr).not.toContain("the ID of a stored lead");
    expect((await importOf("lee@example.com")).stderr).toContain("the ID of a stored lead");
    const dry = await admin.import(`${beginning}1,lee@example.com\n`, ...px, ...stamp, "--dry-run");
    expect(dry.stderr).toContain("the ID of a stored lead");
  });

  test("are not reported if the visits are the same, moved, or stamped on arrival", async () => {
    const admin = anAdmin();
    const ties = `ID,date,email\n${Array.from({ length: 50 }, (_, n) => `${n},2026-01-01,d${n}@example.com\n`).join("")}`;
    await admin.import(ties, ...px);
    for (const how of [[], ["--stamp", "arrival"]]) {
      const again = await admin.import(ties, ...px, ...how);
      expect([again.json["duplicates"], again.stderr]).toEqual([
        50,
        expect.not.stringContaining("the ID of a stored lead"),
      ]);
    }
  });

  test("are not reported with --identity", async () => {
    const admin = anAdmin();
    const person = [...px, "--map", "ID=-", "--identity", "name"];
    const row = (date: string) => `ID,date,name\n1,${date},Dana\n`;
    await admin.import(row("2026-01-01"), ...person);
    const again = await admin.import(row("2026-02-01"), ...person);
    expect([again.json["duplicates"], again.stderr]).toEqual([
      1,
      expect.not.stringContaining("the ID of a stored lead"),
    ]);
  });
});
