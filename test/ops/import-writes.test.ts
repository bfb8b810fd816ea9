/** What an import writes: each page once a transaction, and no copy of it before. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { needing } from "../support/needing.ts";

const many = 20_000;

needing("strace")("an import copies no page of the file before it changes it", async () => {
  const admin = anAdmin();
  const { folder, file } = admin;
  const rows = Array.from(
    { length: many },
    (_, n) => `${crypto.randomUUID()},${1_770_000_000 + n},${n}@example.com,px`,
  );
  const source = admin.put("leads.csv", `id,timestamp,email,pixel_id\n${rows.join("\n")}\n`);
  // Ids without an order touch pages that are there: the second half meets those of the first.
  const trace = join(folder, "trace");
  const traced = ["strace", "-f", "--seccomp-bpf", "-o", trace, "-e", "trace=pwrite64"];
  const command = [process.execPath, "src/admin.ts", "lead", "import", "acme", source, "--create-pixels"];
  const { exitCode } = Bun.spawnSync([...traced, ...command], {
    cwd: join(import.meta.dir, "../.."),
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, DATABASE_PATH: file },
    stdin: "ignore",
  });
  const writes = readFileSync(trace, "utf8").split("\n");

  expect(exitCode).toBe(0);
  expect(writes.length).toBeGreaterThan(1000);
  // A copy has the number of its page before it, in four bytes of their own.
  expect(writes.filter((line) => / pwrite64\(\d+, .*, 4, \d+\)/.test(line))).toEqual([]);
});
