/** Small files that unpack into large ones: an import holds a little of them at a time, and says what it left out. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createGzip } from "node:zlib";
import { mergeCacheMebibytes } from "../../src/import/write/import.ts";
import { anAdmin } from "../support/admin.ts";

const mebibyte = 1024 * 1024;
const unpackedMebibytes = 256;
/**
 * The cache of the merge, and what the collector of garbage leaves lying about: up to 155, whatever the size, and more
 * where it gets no time. It was 600 before there was a bound.
 */
const heldMebibytes = mergeCacheMebibytes + 250;

/** So many mebibytes of one letter behind a beginning, packed into a thousandth. */
function bomb(head: string, letter: string): Promise<Buffer> {
  const letters = Buffer.alloc(mebibyte, letter);
  return pack([Buffer.from(head), ...Array<Buffer>(unpackedMebibytes).fill(letters)]);
}

/** Packs pieces, of which it holds one at a time. */
async function pack(pieces: Iterable<Buffer>): Promise<Buffer> {
  const gzip = createGzip();
  const packed: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => packed.push(chunk));
  for (const piece of pieces) {
    if (!gzip.write(piece)) await new Promise((resolve) => gzip.once("drain", resolve));
  }
  await new Promise<void>((resolve) => {
    gzip.once("end", resolve);
    gzip.end();
  });
  return Buffer.concat(packed);
}

/** The most memory that an import of a file held, in bytes. */
async function mostMemory(file: Uint8Array): Promise<{ bytes: number; said: string }> {
  const admin = anAdmin();
  const path = admin.put("export.gz", file);
  const child = admin.start("lead", "import", "acme", path, "--pixel", "px", "--create-pixels");
  const said = child.stderr.text();
  let isOver = false;
  void child.exited.then(() => {
    isOver = true;
  });
  let bytes = Number.NaN;
  while (!isOver) {
    bytes = highWater(child.pid) ?? bytes;
    await Bun.sleep(5);
  }
  return { bytes, said: await said };
}

/** What the system counts for a process when it has ended includes the one that started it, which may be the larger. */
function highWater(pid: number): number | null {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return found === null ? null : Number(found[1]) * 1024;
}

test.each([
  ["a cell that is never closed", 'email,name\n"', "a"],
  ["a line of JSON that never ends", '{"email":"', "a"],
])("%s does not fill the memory, and is no lead", async (_, head, letter) => {
  const little = await mostMemory(Buffer.from("email\nd@example.com\n"));
  const file = await bomb(head, letter);
  expect(file.length).toBeLessThan(unpackedMebibytes * 2048);
  const { bytes, said } = await mostMemory(file);
  expect(said).toMatch(/rejected|recognised|more than 8 MiB/);
  expect((bytes - little.bytes) / mebibyte).toBeLessThan(heldMebibytes);
});

test("leads of nearly a mebibyte each that share a moment do not fill the memory", async () => {
  const little = await mostMemory(Buffer.from("email\nd@example.com\n"));
  const text = "a".repeat(900_000);
  const rows = Array.from({ length: 300 }, (_, n) => `{"date":"2026-01-31","email":"d${n}@example.com","name":"`);
  const { bytes, said } = await mostMemory(await pack(rows.values().map((row) => Buffer.from(`${row}${text}"}\n`))));
  expect(said).toContain("300 accepted, 0 rejected");
  expect((bytes - little.bytes) / mebibyte).toBeLessThan(heldMebibytes);
});

test("large rows that wait for the order of their dates do not fill the memory", async () => {
  const little = await mostMemory(Buffer.from("email\nd@example.com\n"));
  const text = "a".repeat(900_000);
  const rows = Array.from({ length: 300 }, (_, n) => Buffer.from(`01/02/2026,d${n}@example.com,${text}\n`));
  const { bytes, said } = await mostMemory(await pack([Buffer.from("date,email,name\n"), ...rows].values()));
  expect(said).toContain("can be read with the day or the month first");
  expect((bytes - little.bytes) / mebibyte).toBeLessThan(heldMebibytes);
});

/** A page of so many mebibytes on one line. */
function aPage(mebibytes: number): Buffer {
  const records = Array.from({ length: mebibytes * 5000 }, (_, n) => {
    const visit = {
      email: `d${n}@example.com`,
      timestamp: "2026-01-31T09:15:00Z",
      page_url: `https://example.com/${n}`,
    };
    return JSON.stringify({
      ...visit,
      name: "Dana W",
      company: "Harbor Inc",
      title: "Engineer",
      city: "Reno",
      state: "NV",
    });
  });
  return Buffer.from(
    `{"data":[${records
      .join(",")
      .slice(0, mebibytes * mebibyte - 500)
      .replace(/,[^}]*$/, "")}]}`,
  );
}

test("a page of 8 MiB on one line is read whole in less than 230 MB, and a larger one is refused with what converts it", async () => {
  const { bytes, said } = await mostMemory(aPage(8));
  expect(said).toContain("accepted, 0 rejected");
  expect(bytes / 1e6).toBeLessThan(230);
  expect((await mostMemory(aPage(9))).said).toMatch(/more than 8 MiB.* jq -c '\.data\[\]' FILE/);
});

test("a page of 4 MB with 299,000 records of an id each is read in less than 230 MB", async () => {
  const records = Array.from({ length: 299_000 }, (_, n) => `{"id":${100_000 + n}}`);
  const { bytes, said } = await mostMemory(Buffer.from(`{"data":[${records.join(",")}]}`));
  expect(said).toContain("299,000 rejected");
  // The bound of every import (docs/performance.md).
  expect(bytes / 1e6).toBeLessThan(230);
});

test("a page of more than a million objects is refused in less than 230 MB, with what converts it", async () => {
  const objects = Array.from({ length: 2_700_000 }, () => "{}");
  const { bytes, said } = await mostMemory(Buffer.from(`{"data":[${objects.join(",")}]}`));
  expect(said).toMatch(/more than a million objects.* jq -c '\.data\[\]' FILE/);
  expect(bytes / 1e6).toBeLessThan(230);
});

test("such a page in the middle of lines is rejected as one row of them", async () => {
  const lead = '{"email":"dana@example.com"}';
  const objects = Array.from({ length: 1_100_000 }, () => "{}");
  const { bytes, said } = await mostMemory(
    Buffer.from(`${lead}\n[${objects.join(",")}]\n${lead.replace("dana", "lee")}\n`),
  );
  expect(said).toContain("Line 2 was rejected: it holds more than a million objects.");
  expect(said).toContain("2 accepted, 1 rejected");
  expect(bytes / 1e6).toBeLessThan(230);
});

/** Objects of which each has a name of its own. */
const ofOwnNames = (count: number) => Array.from({ length: count }, (_, n) => `{"n${n}":{"m${n}":{}}}`).join(",");

test("a page in which each object has a name of its own is refused in less than 250 MB, with what converts it", async () => {
  const { bytes, said } = await mostMemory(Buffer.from(`{"data":[${ofOwnNames(280_000)}]}`));
  expect(said).toMatch(/more than 200,000 different names.* jq -c '\.data\[\]' FILE/);
  expect(bytes / 1e6).toBeLessThan(250);
});

test("such a page in the middle of lines is rejected as one row of them, whatever quotes its texts hold", async () => {
  const lead = '{"email":"dana@example.com"}';
  const quoted = JSON.stringify({ notes: '"a":"b\\"'.repeat(1000), more: "\\" });
  const { bytes, said } = await mostMemory(
    Buffer.from(`${lead}\n[${quoted},${ofOwnNames(140_000)}]\n${lead.replace("dana", "lee")}\n`),
  );
  expect(said).toContain("Line 2 was rejected: it holds more than 200,000 different names.");
  expect(said).toContain("2 accepted, 1 rejected");
  expect(bytes / 1e6).toBeLessThan(250);
});

test("a page with many names in its texts is read", async () => {
  const notes = Array.from({ length: 220_000 }, (_, n) => `"n${n}":1`).join(",");
  const pieces = Array.from({ length: 8 }, (_, n) => notes.slice(n * 400_000, (n + 1) * 400_000));
  const records = pieces.map((notes, n) => JSON.stringify({ email: `d${n}@example.com`, notes }));
  expect((await mostMemory(Buffer.from(`{"data":[${records.join(",")}]}`))).said).toContain("8 accepted, 0 rejected");
});
