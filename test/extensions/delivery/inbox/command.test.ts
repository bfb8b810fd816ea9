/** bun admin inbox: files that are dropped into the folder of an account become its leads. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { anAdmin } from "../../../support/admin.ts";
import { start } from "../../../support/process.ts";
import { fillInbox } from "./an-inbox.ts";

/** Its inbox waits by a clock of the test, so files settle at once. */
const anAdminWithFixedClock = (accounts = ["acme"]) => anAdmin(accounts, {}, Date.parse("2026-03-01T00:00:00Z"));

const rows =
  "email,identified_at,pixel_id\na@example.com,2026-01-31T09:15:00Z,px_shop\nb@example.com,yesterday,px_shop\n";

test("--once imports all files, keeps rejected rows, and names unreadable files", async () => {
  const admin = anAdminWithFixedClock();
  const folder = fillInbox(admin, {
    "acme/import.json": `{"create-pixels":true}`,
    "acme/visits.csv": rows,
    "acme/more.ndjson.gz": gzipSync(
      `{"email":"c@example.com","identified_at":"2026-01-31T09:16:00Z","pixel_id":"px_shop"}\n`,
    ),
    "acme/picture.csv": "PNG,,,\n1,2,3,4\n",
    "acme/headless.csv": "Dana,Whitfield,San Diego\nLee,Ortiz,Boise\n",
  });
  const { status, json, stderr } = await admin.run("inbox", folder, "--once", "--json");
  expect({ status, json, stderr }).toMatchObject({ status: 1, json: { done: 2, failed: 2, later: 0 } });
  expect((await admin.leads()).map(({ email }) => email)).toEqual(["a@example.com", "c@example.com"]);
  expect(readdirSync(join(folder, "acme/done")).toSorted()).toEqual(["more.ndjson.gz", "visits.csv"]);
  expect(readFileSync(join(folder, "acme/rejected/visits.csv"), "utf8")).toContain(
    "b@example.com,yesterday,px_shop,3,",
  );
  expect(readFileSync(join(folder, "acme/failed/picture.csv.txt"), "utf8")).toContain(
    "No column of the file was recognized",
  );
  const { json: imports } = await admin.run("import", "list", "acme", "--json");
  expect(imports).toContainEqual(expect.objectContaining({ file: "visits.csv", imported: 1, rejected: 1 }));
  // The log is no place for the names of people, and of a file without a header they seem to be columns.
  expect(stderr).toContain(
    "acme/headless.csv: moved to failed/, with what to do in the .txt next to it: No column of the file",
  );
  expect(stderr).not.toContain("Whitfield");
  expect(readFileSync(join(folder, "acme/failed/headless.csv.txt"), "utf8")).toContain("Whitfield");
});

test("the line of each file has its counts and warnings", async () => {
  const admin = anAdminWithFixedClock();
  await admin.import("email\ndana@example.com\nlee@example.com\n", "--pixel", "px", "--create-pixels");
  await admin.run("lead", "erase", "acme", "--email", "lee@example.com");
  const folder = fillInbox(admin, {
    "acme/import.json": `{"create-pixels":true,"pixel":"px"}`,
    "acme/a.csv": "email,id,page_url\na@example.com,1,/a\nb@example.com,2,/a\n",
    "acme/b.csv": "email,id,page_url\nc@example.com,3,/a\nd@example.com,3,/b\n",
    "acme/c.csv": "email,phone,state\nkim@example.com,1.61E+10,Ontario\n",
    "acme/again.csv": "email\ndana@example.com\nlee@example.com\n",
  });
  const { status, stderr } = await admin.run("inbox", folder, "--once");
  expect(status).toBe(0);
  expect(stderr).toContain("acme/a.csv: done; 2 leads added\n");
  expect(stderr).toContain(
    "acme/b.csv: done; 1 lead added, 1 the same lead again; Warning: 2 rows have the ID of another row",
  );
  expect(stderr).toContain(
    "acme/c.csv: done; 1 lead added; Warning: 1 row: the state is not a US state, so it was left empty; " +
      "Warning: 1 row: the phone number is not valid, so it was left empty\n",
  );
  expect(stderr).toContain("acme/again.csv: done; 0 leads added, 1 already stored, 1 skipped (erased person)\n");
});

test("--once ends with 1 for files of no account or in no folder, with 0 for rejected rows, and without the inbox", async () => {
  const admin = anAdminWithFixedClock();
  const folder = fillInbox(admin, { "acme/import.json": `{"create-pixels":true}`, "acme/visits.csv": rows });
  const once = () => admin.run("inbox", folder, "--once", "--json");
  expect(await once()).toMatchObject({ status: 0, json: { done: 1, failed: 0, later: 0 } });
  mkdirSync(join(folder, "nobody"));
  for (const name of ["nobody/a.csv", "nobody/b.csv", "more.csv"]) writeFileSync(join(folder, name), rows);
  expect(await once()).toMatchObject({ status: 1, json: { done: 0, failed: 0, later: 3 } });
  const { status, stderr } = await admin.run("inbox", join(admin.folder, "none"));
  expect([status, stderr]).toEqual([1, expect.stringContaining("There is no folder")]);
});

test("a second inbox on the same folder is refused; a closed terminal ends the first with 129, so that it is restarted", async () => {
  const admin = anAdmin();
  const folder = fillInbox(admin, { "acme/import.json": `{"create-pixels":true}`, "acme/visits.csv": rows });
  const first = admin.start("inbox", folder);
  await first.complained(
    /acme\/visits\.csv: done; 1 row went to rejected\/ \(most often: the format of its time is unknown\); 1 lead added/,
  );
  const second = await admin.run("inbox", folder, "--once");
  expect([second.status, second.stderr]).toEqual([1, expect.stringContaining("Another inbox watches")]);
  expect(await first.end("SIGHUP")).toBe(129);
});

test.each([
  ["a pixel that the account does not have", { pixel: "px_none" }, "px_none"],
  ["a zone that there is none of", { timezone: "Mars", "create-pixels": true }, "Mars"],
  ["a name that is no field", { map: "email=e-mail", "create-pixels": true }, "e-mail"],
])("files stay pending while import.json has %s, and are imported once it is corrected", async (_, settings, named) => {
  const admin = anAdminWithFixedClock();
  const folder = fillInbox(admin, { "acme/import.json": JSON.stringify(settings), "acme/visits.csv": rows });
  const { status, json, stderr } = await admin.run("inbox", folder, "--once", "--json");
  expect({ status, json }).toMatchObject({ status: 1, json: { done: 0, failed: 0, later: 1 } });
  // No trouble of an import: the folder does not rest.
  expect(stderr).toMatch(/^acme\/: the options of its import are wrong, and its files remain pending: [^\n]+\n$/);
  expect(stderr).toContain(named);
  writeFileSync(join(folder, "acme/import.json"), `{"create-pixels":true}`);
  expect((await admin.run("inbox", folder, "--once", "--json")).json).toMatchObject({ done: 1 });
});

test("an inbox whose folder is moved away ends, and names the folder", async () => {
  const admin = anAdmin();
  const folder = fillInbox(admin, { "acme/import.json": `{"create-pixels":true}`, "acme/visits.csv": rows });
  const { exited, errors, complained } = admin.start("inbox", folder);
  await complained(/visits\.csv: done/);
  renameSync(folder, `${folder}-elsewhere`);
  expect([await exited, errors()]).toEqual([
    1,
    expect.stringContaining(
      `\nThe folder ${folder} cannot be read any more (ENOENT). Restore it, then start the inbox again: its files are imported then.\n`,
    ),
  ]);
});

test("an erasure names the folder of rejected rows, and the files in the inbox that hold the person in any encoding", async () => {
  const admin = anAdmin(["acme"], { INBOX: "inbox" }, Date.parse("2026-03-01T00:00:00Z"));
  const wide = Buffer.from(`\ufeff${rows}`, "utf16le");
  const files = {
    "acme/visits.csv": rows,
    "acme/more.csv": rows,
    "acme/wide.csv": wide,
    "acme/packed.csv.gz": gzipSync(wide),
  };
  const folder = fillInbox(admin, { "acme/import.json": `{"create-pixels":true}`, ...files });
  await admin.run("inbox", folder, "--once");
  const { json, stderr } = await admin.run("lead", "erase", "acme", "--email", "b@example.com", "--json");
  const rejected = join(folder, "acme/rejected");
  expect(json["receipt"]).toMatchObject({ rejects_files: [rejected] });
  expect(stderr).toContain(`${rejected}\n`);
  const named = [...stderr.matchAll(/^This file still contains the erased data\..*: .*inbox\/acme\/(.*)$/gm)].map(
    ([, path]) => path,
  );
  const done = Object.keys(files).map((path) => path.replace("acme/", "done/"));
  const others = readdirSync(rejected).map((name) => `rejected/${name}`);
  expect(named).toEqual([...done, ...others].toSorted());
});

test("each file is logged with the clients that missed some of its leads", async () => {
  const admin = anAdmin();
  const rows = (...hours: readonly number[]) =>
    `pixel_id,email,identified_at\n${hours.map((ago) => `px,h${ago}@example.com,${new Date(Date.now() - ago * 3_600_000).toISOString()}\n`).join("")}`;
  await admin.import(rows(30, 20, 10));
  const { key } = (await admin.run("key", "create", "acme", "--label", "crm", "--json")).json;
  const server = start({ DATABASE_PATH: admin.file }, admin.folder);
  const headers = { Authorization: `Bearer ${key}` };
  expect((await fetch(`${await server.listening()}/api/v1/leads?limit=2`, { headers })).status).toBe(200);
  expect(await server.end("SIGTERM")).toBe(0);
  const folder = fillInbox(admin, { "acme/export.csv": rows(13, 5) });
  expect((await admin.run("inbox", folder, "--once")).stderr).toMatch(
    /^acme\/export\.csv: done; 2 leads added; Client crm missed 1 of them. Polling with an overlap of [34] hours finds them\n$/,
  );
});
