/** Small files that unpack into large ones: an import holds a little of them at a time, and says what it left out. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { gzipSync } from "node:zlib";
import { mergeCacheMebibytes } from "../../src/import/write/import.ts";
import { type Admin, anAdmin } from "../support/admin.ts";

const mebibyte = 1024 * 1024;
const unpackedMebibytes = 128;
/** The garbage that is not collected yet, whatever the size of the file. */
const maxMegabytes = 200;
/** The cache of the merge in addition. */
const maxOfMerge = maxMegabytes + (mergeCacheMebibytes * mebibyte) / 1e6;

/** A beginning and many mebibytes of one letter, compressed to a thousandth. The parts of a gzip file can be joined. */
function bomb(head: string, letter: string): Buffer {
  const letters = gzipSync(Buffer.alloc(mebibyte, letter));
  return Buffer.concat([gzipSync(head), ...Array<Buffer>(unpackedMebibytes).fill(letters)]);
}

/** Imports a file, and returns the highest memory use of the process, in megabytes, with what it printed. */
function imported(file: Uint8Array): Promise<{ megabytes: number; said: string }> {
  const admin = anAdmin();
  return run(admin, "lead", "import", "acme", admin.put("export.gz", file), "--pixel", "px", "--create-pixels");
}

/** The same of any command. */
async function run(admin: Admin, ...words: readonly string[]): Promise<{ megabytes: number; said: string }> {
  const { child, finished } = admin.start(...words);
  let isOver = false;
  void child.exited.then(() => {
    isOver = true;
  });
  let bytes = Number.NaN;
  while (!isOver) {
    bytes = highWater(child.pid) ?? bytes;
    // An import lowers its priority, so that it takes minutes next to other tests. Only root can raise it again.
    if (process.getuid?.() === 0) setPriority(child.pid, 0);
    await Bun.sleep(5);
  }
  return { megabytes: bytes / 1e6, said: (await finished()).stderr };
}

/** Returns the peak of a running process. After its end, the system's count includes the parent, which may be larger. */
function highWater(pid: number): number | null {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return found === null ? null : Number(found[1]) * 1024;
}

/** An import of one row. */
let little: Awaited<ReturnType<typeof imported>> | null = null;

const refused = /rejected|recognised|damaged or ends too early/;
const text = "a".repeat(900_000);
/** Compresses 150 rows of nearly a mebibyte each, one at a time. */
const largeRows = (head: string, row: (n: number) => string) =>
  Buffer.concat(Array.from({ length: 150 }, (_, n) => gzipSync((n === 0 ? head : "") + row(n))));

test.each<[string, () => Buffer, RegExp, number]>([
  ["a cell that is never closed", () => bomb('email,name\n"', "a"), refused, maxMegabytes],
  ["a line of JSON that never ends", () => bomb('{"email":"', "a"), refused, maxMegabytes],
  [
    "large leads that share a timestamp",
    () => largeRows("", (n) => `{"date":"2026-01-31","email":"d${n}@example.com","name":"${text}"}\n`),
    /150 accepted, 0 rejected/,
    maxOfMerge,
  ],
  [
    "large rows that wait for the order of their dates",
    () => largeRows("date,email,name\n", (n) => `01/02/2026,d${n}@example.com,${text}\n`),
    /can be day first or month first/,
    130,
  ],
])("a small file that unpacks into %s does not fill the memory", async (_, make, says, max) => {
  little ??= await imported(Buffer.from("email\nd@example.com\n"));
  const file = make();
  expect(file.length).toBeLessThan(unpackedMebibytes * 4096);
  const { megabytes, said } = await imported(file);
  expect(said).toMatch(says);
  expect(megabytes - little.megabytes).toBeLessThan(max);
});

test("an erasure searches a small file that unpacks into a large one, in bounded memory", async () => {
  const admin = anAdmin();
  admin.put("leadfile.db.old.gz", Buffer.concat([bomb("email\n", "a"), gzipSync(" dana@example.com")]));
  const { megabytes, said } = await run(admin, "lead", "erase", "acme", "--email", "dana@example.com");
  expect(said).toContain("This file still contains the erased data.");
  expect(megabytes).toBeLessThan(200);
});

/** A page of a size on one line. */
function aPage(mebibytes: number): string {
  const record = (n: number) =>
    `{"email":"d${n}@example.com","timestamp":"2026-01-31T09:15:00Z","page_url":"https://example.com/${n}",` +
    `"notes":"${" ".repeat(800)}",` +
    '"name":"Dana W","company":"Harbor Inc","title":"Engineer","city":"Reno","state":"NV"}';
  const records = Array.from({ length: mebibytes * 1200 }, (_, n) => record(n)).join(",");
  return `{"data":[${records.slice(0, mebibytes * mebibyte - 500).replace(/,[^}]*$/, "")}]}`;
}

const objects = (count: number) => Array.from({ length: count }, () => "{}").join(",");
/** Objects each of which has names of its own. */
const ownNames = (count: number) => Array.from({ length: count }, (_, n) => `{"n${n}":{"m${n}":{}}}`).join(",");
const ids = Array.from({ length: 100_000 }, (_, n) => `{"id":${100_000 + n}}`).join(",");
/** A page between two lines. */
const amongLines = (page: string) => `{"email":"dana@example.com"}\n[${page}]\n{"email":"lee@example.com"}\n`;

test.each<[string, () => string, RegExp, number]>([
  ["of 24 MiB on one line is read whole", () => aPage(24), /accepted, 0 rejected/, 230],
  ["of 100,000 records of an ID each is read", () => `{"data":[${ids}]}`, /100,000 rejected/, 165],
  ["of many objects among lines is read", () => amongLines(objects(450_000)), /2 accepted, 450,000 rejected/, 230],
  [
    "in which each object has its own name among lines is read",
    () => amongLines(ownNames(70_000)),
    /2 accepted, 70,000 rejected/,
    250,
  ],
  // The bound of every import is in docs/performance.md.
])("a page %s, in bounded memory", async (_, make, says, maxOfPage) => {
  const { megabytes, said } = await imported(Buffer.from(make()));
  expect(said).toMatch(says);
  expect(megabytes).toBeLessThan(maxOfPage);
});

const manyNames = (count: number) => Array.from({ length: count }, (_, n) => `"n${n}":1`).join(",");
const withNotes = (notes: readonly string[]) =>
  Buffer.from(JSON.stringify({ data: notes.map((text, n) => ({ email: `d${n}@example.com`, notes: text })) }));

test("a text is not read as names, however long it is", async () => {
  const names = manyNames(220_000);
  const pieces = Array.from({ length: 8 }, (_, n) => names.slice(n * 400_000, (n + 1) * 400_000));
  expect((await imported(withNotes(pieces))).said).toContain("8 accepted, 0 rejected");
  // To look for names from each quote of this text on would take half an hour.
  expect((await imported(withNotes([manyNames(600_000)]))).said).toContain("it is larger than 1 MiB");
});
