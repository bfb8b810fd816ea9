/** Locks: asking whether a file is served leaves no trace. */
import { expect, onTestFinished, test } from "bun:test";
import { chownSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockRequestsOf } from "../../src/db/database-files.ts";
import { isServed, openLockRequests, takeLock } from "../../src/db/locks.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";

/** Runs with the umask that most shells have. */
function withUsualUmask(): void {
  const before = process.umask(0o022);
  onTestFinished(() => void process.umask(before));
}

test("asking whether a file is served changes neither the umask of the process nor the folder", () => {
  withUsualUmask();
  const folder = aFolder();
  expect(isServed(join(folder, "leadfile.db"))).toBe(false);
  expect(isServed(join(folder, "nowhere", "leadfile.db"))).toBe(false);
  expect(process.umask()).toBe(0o022);
  expect(readdirSync(folder)).toEqual([]);
});

test("a lock is seen by who asks, its file is private, and the umask stays", () => {
  withUsualUmask();
  const path = join(aFolder(), "leadfile.db");
  const release = takeLock(path);
  expect(isServed(path)).toBe(true);
  release?.();
  expect(isServed(path)).toBe(false);
  expect(statSync(`${path}.serving`).mode & 0o777).toBe(0o600);
  expect(process.umask()).toBe(0o022);
});

needing("root")(
  "an import of root can begin while another one ends, which removes the file of lock requests",
  async () => {
    const path = join(aFolder(), "leadfile.db");
    writeFileSync(path, "");
    // A file of another user: root gives its files to them.
    chownSync(path, 65_534, 65_534);
    const script = `const { rmSync } = require("node:fs");
      console.log("ready"); for (;;) rmSync(process.argv[1], { force: true });`;
    const ending = Bun.spawn(["bun", "-e", script, lockRequestsOf(path)], { stdout: "pipe" });
    onTestFinished(() => ending.kill());
    await ending.stdout.getReader().read();
    const requests = openLockRequests(path);
    for (let times = 0; times < 5000; times++) requests.begin();
  },
);
