/** bun admin inbox: files that are dropped into the folder of an account become its leads. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Admin, anAdmin } from "../admin.ts";

const rows =
  "email,identified_at,pixel_id\na@example.com,2026-01-31T09:15:00Z,px_shop\nb@example.com,yesterday,px_shop\n";

/** A folder with one for acme, whose files were complete a minute ago. */
function aFolderOf(admin: Admin, files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = join(admin.folder, "inbox");
  mkdirSync(join(folder, "acme"), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, "acme", name);
    writeFileSync(path, content);
    utimesSync(path, 0, 0);
  }
  return folder;
}

test("--once imports what is there, keeps rejected rows and names what could not be read", async () => {
  const admin = anAdmin();
  const folder = aFolderOf(admin, {
    "import.json": `{"create-pixels":true}`,
    "visits.csv": rows,
    "more.ndjson.gz": gzipSync(
      `{"email":"c@example.com","identified_at":"2026-01-31T09:16:00Z","pixel_id":"px_shop"}\n`,
    ),
    "picture.csv": "PNG,,,\n1,2,3,4\n",
  });
  const { status, json, stderr } = await admin.run("inbox", folder, "--once", "--json");
  expect({ status, json, stderr }).toMatchObject({ status: 0, json: { done: 2, failed: 1, later: 0 } });
  expect((await admin.leads()).map(({ email }) => email)).toEqual(["a@example.com", "c@example.com"]);
  expect(readdirSync(join(folder, "acme/done")).toSorted()).toEqual(["more.ndjson.gz", "visits.csv"]);
  expect(readFileSync(join(folder, "acme/rejected/visits.csv"), "utf8")).toContain(
    "b@example.com,yesterday,px_shop,3,",
  );
  expect(readFileSync(join(folder, "acme/failed/picture.csv.txt"), "utf8")).toContain(
    "No column of the file was recognised",
  );
});

test("a second inbox on the same folder is refused, and Ctrl-C ends the first one in order", async () => {
  const admin = anAdmin();
  const folder = aFolderOf(admin, { "import.json": `{"create-pixels":true}`, "visits.csv": rows });
  const first = admin.start("inbox", folder);
  const said = first.stderr.getReader();
  expect(new TextDecoder().decode((await said.read()).value)).toContain(
    "acme/visits.csv: done; 1 rows went to rejected/",
  );
  const second = await admin.run("inbox", folder, "--once");
  expect([second.status, second.stderr]).toEqual([1, expect.stringContaining("Another inbox watches")]);
  first.kill("SIGINT");
  expect(await first.exited).toBe(0);
});

test("a file whose rejected rows cannot be written stays where it is, for another time", async () => {
  const admin = anAdmin();
  const folder = aFolderOf(admin, { "import.json": `{"create-pixels":true}`, "visits.csv": rows });
  symlinkSync(join(admin.folder, "gone/rejected"), join(folder, "acme/.rejected-visits.csv"));
  const { status, json } = await admin.run("inbox", folder, "--once", "--json");
  expect({ status, json }).toMatchObject({ status: 0, json: { done: 0, failed: 0, later: 1 } });
  expect(readdirSync(join(folder, "acme"))).toContain("visits.csv");
});

test("every import of an inbox is a batch with the name of its file", async () => {
  const admin = anAdmin();
  const folder = aFolderOf(admin, { "import.json": `{"create-pixels":true}`, "visits.csv": rows });
  await admin.run("inbox", folder, "--once");
  const { json } = await admin.run("import", "list", "acme", "--json");
  expect(json).toMatchObject([{ file: "visits.csv", imported: 1, rejected: 1 }]);
});

test("a folder that is not there is refused with what to do", async () => {
  const admin = anAdmin();
  const { status, stderr } = await admin.run("inbox", join(admin.folder, "none"));
  expect([status, stderr]).toEqual([1, expect.stringContaining("There is no folder")]);
});
