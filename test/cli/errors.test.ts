/** What ends a command: one line that says what to do, no stack trace, and the right status. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { anAdmin, type Ended } from "../support/admin.ts";

const oneLine = /^[^\n]{20,}\n$/;

function expectRefusal(ended: Ended, status: number): void {
  expect({ status: ended.status, stdout: ended.stdout }).toEqual({ status, stdout: "" });
  expect(ended.stderr).toMatch(oneLine);
  expect(ended.stderr).not.toMatch(/\bat .*:\d+|TypeError|undefined|\bError\b/);
}

test.each(
  [
    "acount list,account,account make x,account create,account create a b,account list --loud,key revoke,key check --label",
    "lead import acme,lead import acme f.csv --on-duplicate merge,lead import acme f.csv --stamp never",
    "lead import acme f.csv --timezone Mars/Olympus,lead import acme f.csv --identity shoe_size,lead import acme f.csv --map x",
    "lead import acme f.csv --map x=shoe,lead import acme f.csv --pixel,lead export acme --format xml,pixel set-status acme px",
  ]
    .join(",")
    .split(",")
    .map((line) => [line]),
)("bun admin %s is wrong use, and ends with 2", async (line) => {
  const admin = anAdmin();
  admin.put("f.csv", "email\nd@example.com\n");
  const ended = await admin.run(...line.split(" "));
  expect({ status: ended.status, stdout: ended.stdout }).toEqual({ status: 2, stdout: "" });
  if (line !== "account") expectRefusal(ended, 2);
});

test.each([
  ["lead erase acme --email dana@example.com --email lee@example.com", "--email takes one value, and is given twice"],
  ["lead import acme f.csv --map a=name --map b=email", "--map takes one value, and is given twice"],
  ["lead import acme f.csv --map email=name,E-Mail=company", '--map names "E-Mail" twice'],
])("bun admin %s is refused, and nothing of it is done", async (line, says) => {
  const admin = anAdmin();
  await admin.import("email\nlee@example.com\n", "--pixel", "px", "--create-pixels");
  admin.put("f.csv", "email\nd@example.com\n");
  const ended = await admin.run(...line.split(" "));
  expectRefusal(ended, 2);
  expect(ended.stderr).toContain(says);
  expect((await admin.leads()).map(({ email }) => email)).toEqual(["lee@example.com"]);
});

test.each([
  "account activate X",
  "pixel list X",
  "pixel create X",
  "key create X",
  "key list X",
  "lead export X",
  "lead import X f.csv",
])("bun admin %s is refused with 1 where there is no such account", async (line) => {
  const admin = anAdmin();
  admin.put("f.csv", "email\nd@example.com\n");
  for (const json of [[], line.startsWith("lead export") ? [] : ["--json"]]) {
    expectRefusal(await admin.run(...line.split(" "), ...json), 1);
  }
});

test.each(["--help", "--version", "help", "lead --help", "lead import --help", "help lead"])(
  "bun admin %s is no mistake",
  async (line) => {
    expect(await anAdmin().run(...line.split(" "))).toMatchObject({ status: 0, stderr: "" });
  },
);

describe("a file that is no export is refused in one line, and nothing is imported:", () => {
  const document = '[\n{"email":"d@example.com"},\n';
  const csv = Buffer.from("email\nd@example.com\n");
  test.each<[string, string | Uint8Array | null, string]>([
    ["one that is not there", null, "cannot be read"],
    ["a zip archive", Buffer.concat([Buffer.from("PK\x03\x04"), csv]), "a zip archive"],
    ["the page of a login, in the place of an export", Buffer.from("<!DOCTYPE html>\n"), "a web page or XML"],
    ["a workbook of an old Excel", Buffer.from("d0cf11e0a1b11ae1", "hex"), "an Excel workbook"],
    ["a zip archive with nothing in it", Buffer.concat([Buffer.from("PK\x05\x06"), Buffer.alloc(18)]), "a zip archive"],
    ["a JSON document that is cut off", document, "neither one JSON document"],
    ["a JSON document that is cut off, gzipped", gzipSync(document), "neither one JSON document"],
    ["a file packed twice", gzipSync(gzipSync(csv)), "packed twice"],
    ["a file packed with zstd", zstdCompressSync(csv), "zstdcat"],
    ["a file packed with bzip2", Buffer.concat([Buffer.from("BZh91AY&SY"), Buffer.alloc(30, 0xe5)]), "bzcat"],
    ["a database", "SQLite format 3\0 and what follows", "an SQLite database"],
    ["gzip of which nothing is left", gzipSync(csv).subarray(0, 12), "cut off"],
  ])("%s", async (_, content, says) => {
    const admin = anAdmin();
    if (content !== null) admin.put("export", content);
    const ended = await admin.run(
      "lead",
      "import",
      "acme",
      join(admin.folder, "export"),
      "--pixel",
      "px",
      "--create-pixels",
    );
    expectRefusal(ended, 1);
    expect(ended.stderr).toContain(says);
    expect(await admin.leads()).toEqual([]);
  });

  test("one long line, of which the beginning is shown", async () => {
    const admin = anAdmin();
    const ended = await admin.import("x".repeat(100_000));
    expectRefusal(ended, 1);
    expect(ended.stderr).toMatch(/^No column of the file was recognised\. Its columns are x{80}…\. /);
  });

  test.each([
    "2026-01-31 09:15,Dana,Reno\n",
    "Dana,dana@example.com\n",
    "Dana,619-555-0123\n",
    "Dana,https://x.example/a\n",
    '["dana@example.com","Dana"]',
  ])("a table without a header, of which nothing is shown: %j", async (text) => {
    const ended = await anAdmin().import(text);
    expectRefusal(ended, 1);
    expect(ended.stderr).toContain("looks like a row, not like a header. Put a line");
    expect(ended.stderr).not.toContain("Dana");
  });

  test("a folder", async () => {
    const admin = anAdmin();
    mkdirSync(join(admin.folder, "exports"));
    expectRefusal(await admin.run("lead", "import", "acme", join(admin.folder, "exports")), 1);
  });
});

test("a column with an endless name is told by its beginning", async () => {
  const text = `email,${"x".repeat(100_000)}\nd@example.com,1\n`;
  expect((await anAdmin().import(text, "--pixel", "px")).stderr).toMatch(/^Not kept: x{80}…\.$/m);
});

test("gzip that is cut off leaves nothing behind and says so, and the whole file comes in", async () => {
  const admin = anAdmin();
  const rows = Array.from({ length: 20_000 }, (_, n) => `${crypto.randomUUID()},d${n}@example.com,2026-01-31\n`);
  const packed = gzipSync(`id,email,date\n${rows.join("")}`);
  const cut = await admin.import(packed.subarray(0, packed.length * 0.7), "--pixel", "px");
  expect(cut).toMatchObject({ status: 1, stdout: "", stderr: expect.stringMatching(/cut off.*Nothing was imp/) });
  expect(await admin.leads()).toEqual([]);
  expect(await admin.import(packed, "--pixel", "px")).toMatchObject({ status: 0, json: { imported: 20_000 } });
});

test("an empty file is an import of nothing", async () => {
  for (const empty of ["", "\n", "\ufeff", "email,phone\n", "email,phone", gzipSync("")]) {
    const ended = await anAdmin().import(empty);
    expect({ status: ended.status, ...ended.json }).toMatchObject({ status: 0, read: 0, imported: 0, rejected: 0 });
    expect(ended.stderr).not.toContain("No column was recognised");
  }
});

test("--rejects never writes over the file that is read, nor over the database", async () => {
  const admin = anAdmin();
  const file = admin.put("export.csv", "email\nd@example.com\n");
  for (const target of [file, join(admin.folder, ".", "export.csv"), admin.file]) {
    await admin.run("lead", "import", "acme", file, "--pixel", "px", "--create-pixels", "--rejects", target);
  }
  expect(await admin.leads()).toHaveLength(1);
  expect(readFileSync(file, "utf8")).toBe("email\nd@example.com\n");
  expectRefusal(
    await admin.run("lead", "import", "acme", file, "--rejects", join(admin.folder, "no/such/folder.csv")),
    1,
  );
});

test("a file that cannot be read or written is named, and not the database", async () => {
  const admin = anAdmin();
  const tooLong = join(admin.folder, "x".repeat(300));
  const file = admin.put("export.csv", "email\nd@example.com\n");
  for (const [says, ...args] of [
    // It is there, and nobody can read its beginning.
    ["/proc/self/mem cannot be read (EIO)", "/proc/self/mem"],
    [`${tooLong} cannot be read (ENAMETOOLONG)`, tooLong, "--rejects", join(admin.folder, "rejects")],
    [`${tooLong} cannot be written (ENAMETOOLONG)`, file, "--rejects", tooLong],
  ] as const) {
    const ended = await admin.run("lead", "import", "acme", ...args);
    expectRefusal(ended, 1);
    expect(ended.stderr).toContain(says);
  }
});

test("a file that is no database is refused in one line, and stays as it is", async () => {
  const admin = anAdmin([]);
  writeFileSync(admin.file, "this is a letter to my aunt");
  expectRefusal(await admin.run("account", "list"), 1);
  expect(readFileSync(admin.file, "utf8")).toBe("this is a letter to my aunt");
});

test("a file that is cut off is called damaged, and nobody is told to move it away", async () => {
  const admin = anAdmin();
  const whole = readFileSync(admin.file);
  writeFileSync(admin.file, whole.subarray(0, whole.length / 2));
  const ended = await admin.run("account", "list");
  expectRefusal(ended, 1);
  expect(ended.stderr).toContain("is damaged");
  expect(ended.stderr).toContain("restore FILE");
  expect(ended.stderr).not.toContain("move this one away");
});

test("a full standard output ends a command without a stack trace", async () => {
  const child = anAdmin().start("account", "list");
  await child.stdout.cancel();
  await child.exited;
  expect(await child.stderr.text()).not.toMatch(/\bat .*:\d+/);
});

test("a pixel that a file names has an id that a terminal and a client can live with, or its row is rejected", async () => {
  const rows = `pixel_id,email\n"a\nb",a@example.com\n${"p".repeat(201)},b@example.com\n${"p".repeat(200)},c@example.com\n`;
  expect((await anAdmin().import(rows)).json).toMatchObject({ imported: 1, rejected: 2 });
});

test("--pixel names one that exists, unless --create-pixels makes it", async () => {
  const admin = anAdmin();
  const file = admin.put("export.csv", "email\nd@example.com\n");
  expectRefusal(await admin.run("lead", "import", "acme", file, "--pixel", "px"), 1);
  expect(await admin.run("lead", "import", "acme", file, "--pixel", "px", "--create-pixels")).toMatchObject({
    status: 0,
  });
});
