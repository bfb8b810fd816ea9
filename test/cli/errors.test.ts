/** Files that cannot be imported: one line that says what to do, the right status, and nothing is imported. */
import { describe, expect, test } from "bun:test";
import { basename, join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { anAdmin, type Ended } from "../support/admin.ts";

function expectRefusal(ended: Ended, says: RegExp): void {
  expect([ended.status, ended.stdout, ended.stderr]).toEqual([1, "", expect.stringMatching(says)]);
  expect(ended.stderr).toMatch(/^[^\n]{20,}\n$/);
}

describe("a file that is not an export is rejected:", () => {
  const document = '[\n{"email":"d@example.com"},\n';
  const csv = Buffer.from("email\nd@example.com\n");
  test.each<[string, string | Uint8Array | null, RegExp]>([
    ["a missing file", null, /cannot be read/],
    ["a zip archive", Buffer.concat([Buffer.from("PK\x03\x04"), csv]), /a zip archive/],
    ["a login page in place of an export", Buffer.from("<!DOCTYPE html>\n"), /a web page or XML/],
    ["a workbook of an old Excel", Buffer.from("d0cf11e0a1b11ae1", "hex"), /an Excel workbook/],
    ["an empty zip archive", Buffer.concat([Buffer.from("PK\x05\x06"), Buffer.alloc(18)]), /a zip archive/],
    ["a JSON document that is cut off", document, /The JSON is damaged or ends too early/],
    ["a JSON document that is cut off, gzipped", gzipSync(document), /The JSON is damaged or ends too early/],
    ["a file packed twice", gzipSync(gzipSync(csv)), /compressed twice/],
    ["a file packed with zstd", zstdCompressSync(csv), /zstdcat/],
    ["a file packed with bzip2", Buffer.concat([Buffer.from("BZh91AY&SY"), Buffer.alloc(30, 0xe5)]), /bzcat/],
    ["a database", "SQLite format 3\0 and what follows", /an SQLite database/],
    ["gzip of which nothing is left", gzipSync(csv).subarray(0, 12), /truncated/],
    ["one long line", "x".repeat(100_000), /^No column of the file was recognized\. Its columns are x{80}…\. /],
    ...["2026-01-31 09:15,Dana,Reno\n", "Dana,d@example.com\n", "Dana,619-555-0123\n", '["d@example.com","Dana"]'].map(
      (text): [string, string, RegExp] => [text, text, /^(?!.*Dana).*looks like data, not like a header\. Add a line/],
    ),
  ])("%s", async (_, content, says) => {
    const admin = anAdmin();
    if (content !== null) admin.put("export", content);
    const file = join(admin.folder, "export");
    expectRefusal(await admin.run("lead", "import", "acme", file, "--pixel", "px", "--create-pixels"), says);
    expect(await admin.leads()).toEqual([]);
  });
});

test("a column with a long name is named by its beginning", async () => {
  const text = `email,${"x".repeat(100_000)}\nd@example.com,1\n`;
  expect((await anAdmin().import(text, "--pixel", "px")).stderr).toMatch(/^Not kept: x{80}…\.$/m);
});

test("of gzip that is cut off nothing is imported, and the whole file is accepted afterwards", async () => {
  const admin = anAdmin();
  const rows = Array.from({ length: 3_000 }, (_, n) => `${crypto.randomUUID()},d${n}@example.com,2026-01-31\n`);
  const packed = gzipSync(`id,email,date\n${rows.join("")}`);
  const cut = await admin.import(packed.subarray(0, packed.length * 0.7), "--pixel", "px");
  expect(cut).toMatchObject({ status: 1, stdout: "", stderr: expect.stringMatching(/truncated.*Nothing was imp/) });
  expect(await admin.leads()).toEqual([]);
  expect(await admin.import(packed, "--pixel", "px")).toMatchObject({ status: 0, json: { imported: 3_000 } });
});

test("an empty file imports nothing", async () => {
  for (const empty of ["", "\n", "\ufeff", "email,phone\n", "email,phone", gzipSync("")]) {
    const ended = await anAdmin().import(empty);
    expect({ status: ended.status, ...ended.json }).toMatchObject({ status: 0, read: 0, imported: 0, rejected: 0 });
    expect(ended.stderr).not.toContain("No column was recognized");
  }
});

test("a file that cannot be read or written is named, not the database", async () => {
  const admin = anAdmin();
  const tooLong = join(admin.folder, "x".repeat(300));
  const file = admin.put("export.csv", "email\nd@example.com\n");
  for (const [says, ...args] of [
    // It exists, but its beginning cannot be read.
    ["/proc/self/mem cannot be read (EIO)", "/proc/self/mem"],
    [basename(admin.folder), admin.folder],
    [`${tooLong} cannot be read (ENAMETOOLONG)`, tooLong, "--rejects", join(admin.folder, "rejects")],
    [`${tooLong} cannot be written (ENAMETOOLONG)`, file, "--rejects", tooLong],
    ["no/such/folder.csv cannot be written", file, "--rejects", join(admin.folder, "no/such/folder.csv")],
  ] as const) {
    expectRefusal(await admin.run("lead", "import", "acme", ...args), new RegExp(RegExp.escape(says)));
  }
});

test("a row with an invalid pixel ID is rejected, and a missing pixel is created only with --create-pixels", async () => {
  const rows = `pixel_id,email\n"a\nb",a@example.com\n${"p".repeat(201)},b@example.com\n${"p".repeat(200)},c@example.com\n`;
  const admin = anAdmin();
  expect((await admin.import(rows)).json).toMatchObject({ imported: 1, rejected: 2 });
  const importing = ["lead", "import", "acme", admin.put("export.csv", "email\nd@example.com\n"), "--pixel", "px"];
  expectRefusal(await admin.run(...importing), /px/);
  expect((await admin.run(...importing, "--create-pixels")).status).toBe(0);
});
