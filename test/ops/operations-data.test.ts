/** Every command of the page on looking after the data is run, in its order, as it stands there. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";

const root = join(import.meta.dir, "../..");
const page = readFileSync(join(root, "docs/operations-data.md"), "utf8");
const lines = [...page.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].flatMap(([, block = ""]) =>
  block.trim().split(/\n\s*/),
);

test("every command of the page ends with 0, in the order in which it stands there", async () => {
  const admin = anAdmin();
  await admin.import("email,pixel_id,date\ndana@example.com,px,2026-01-31\nrobin@example.com,px,2026-02-01\n");
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const backups = join(admin.folder, "backups");
  mkdirSync(backups);
  expect(lines.length).toBeGreaterThan(12);
  const erased = await admin.run("lead", "erase", "acme", "--email", "somebody@example.com");
  admin.put("receipts.ndjson", erased.stdout);
  for (const line of lines) {
    // The server is nobody's service here, and nothing of this machine is touched.
    if (line.startsWith("systemctl ")) continue;
    const here = line
      .replaceAll("/var/backups/leadfile", backups)
      .replaceAll("bun admin", `"${process.execPath}" "${join(root, "src/admin.ts")}"`)
      .replaceAll("KEY_ID", id)
      // The day may end between a backup and its restore.
      .replaceAll("$(date +%F)", "2026-05-20")
      // A test that is run in a year from these leads must not find them too old.
      .replace("--days 365", "--days 36500");
    const env = { PATH: process.env["PATH"] ?? "", DATABASE_PATH: admin.file, HOME: admin.folder };
    const stdin = new Blob([line.includes("--email -") ? "dana@example.com\n" : ""]);
    const shell = Bun.spawn(["sh", "-c", here], { cwd: admin.folder, env, stdin, stdout: "pipe", stderr: "pipe" });
    const [said, status] = await Promise.all([shell.stderr.text(), shell.exited]);
    expect({ line, status, said: status === 0 ? "" : said }).toEqual({ line, status: 0, said: "" });
  }
  expect((await admin.leads()).map(({ email }) => email)).toEqual(["robin@example.com"]);
});
