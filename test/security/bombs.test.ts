/** Small files that unpack into large ones: an import holds a little of them at a time, and says what it left out. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createGzip } from "node:zlib";
import { anAdmin } from "../admin.ts";

const mebibyte = 1024 * 1024;
const unpackedMebibytes = 256;
/** What the collector of garbage leaves lying about, whatever the size; it was twice as much before there was a bound. */
const heldMebibytes = 300;

/** So many mebibytes of one letter behind a beginning, packed into a thousandth. */
async function bomb(head: string, letter: string): Promise<Buffer> {
  const gzip = createGzip();
  const packed: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => packed.push(chunk));
  gzip.write(head);
  for (let at = 0; at < unpackedMebibytes; at++) {
    if (!gzip.write(Buffer.alloc(mebibyte, letter))) await new Promise((resolve) => gzip.once("drain", resolve));
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

test("a page of 8 MiB on one line is read whole in less than 300 MB, and a larger one is refused with what converts it", async () => {
  const { bytes, said } = await mostMemory(aPage(8));
  expect(said).toContain("accepted, 0 rejected");
  expect(bytes / 1e6).toBeLessThan(300);
  expect((await mostMemory(aPage(9))).said).toMatch(/more than 8 MiB.* jq -c '\.data\[\]' FILE/);
});
