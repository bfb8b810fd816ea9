/** bun run demo --cluster, where it cannot begin. */
import { expect, onTestFinished, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { aFolder } from "../../support/folder.ts";
import { unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { missing, until } from "./cluster.ts";

/** What runs with a folder among its arguments. */
function runningIn(folder: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(folder);
    } catch {
      return false;
    }
  });
}

unless(missing).describe("a demo", () => {
  test("of a cluster that finds a port taken ends, and leaves no node behind", async () => {
    const folder = aFolder();
    try {
      const taken = Bun.serve({ hostname: "127.0.0.1", port: 3002, fetch: () => new Response() });
      onTestFinished(() => taken.stop(true));
    } catch {
      // Somebody else has it, which is as well.
    }
    const home = process.env["HOME"] ?? "";
    const demo = start({ HOME: home }, folder, [
      process.execPath,
      join(import.meta.dir, "../../../src/demo.ts"),
      "--cluster",
    ]);
    expect(await demo.exited).toBe(1);
    expect(demo.errors()).toMatch(/Port 300\d on 127\.0\.0\.1 is in use\./);
    await until(() => runningIn(folder).length === 0);
  });
});
