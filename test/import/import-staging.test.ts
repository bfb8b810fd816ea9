/** A file is read completely before its first lead is stored: the messages until then, and the end of an import before that. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { type Admin, anAdmin } from "../support/admin.ts";

const px = ["--pixel", "px", "--create-pixels"];

/** An import of standard input that waits for more of it, and has said which column is what: rows are read from then on. */
async function waiting(admin: Admin, under: readonly string[] = []) {
  const running = admin.startUnder(under, ["lead", "import", "acme", "-", ...px], { input: aThousandRows });
  await running.complained(/as CSV/);
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

test("leads older than the newest stored one are announced before the first one is stored, and counted as late", async () => {
  const admin = anAdmin();
  expect(
    (await admin.import("date,email\n2026-01-09,a@example.com\n2026-01-01,b@example.com\n", ...px)).json,
  ).toMatchObject({
    late: 0,
  });
  const more = "date,email\n2026-01-20,x@example.com\n2026-01-08,y@example.com\n2026-01-19,z@example.com\n";
  expect((await admin.import(more, ...px, "--dry-run")).json).toMatchObject({ imported: 3, late: 1 });
  const { json, stderr } = await admin.import(more, ...px);
  expect(json).toMatchObject({ imported: 3, late: 1 });
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
