/** bun admin follow to standard output: every lead, oldest first, as it is served. */
import { describe, expect, test } from "bun:test";
import { openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { someLeads } from "../../../support/builders.ts";
import { until } from "../../../support/eventually.ts";
import { aFolder } from "../../../support/folder.ts";
import { aSource, follow, linesOf, program, written } from "./following.ts";

describe("to standard output", () => {
  test("existing leads come oldest first, as served, and then new ones, until SIGTERM", async () => {
    const { url, leads, settings, importMore } = await aSource(3);
    const following = follow([url], { settings });
    await until(() => following.lines().length === 3);
    const more = someLeads(2);
    importMore(more);
    await until(() => following.lines().length === 5);
    expect(await following.end("SIGTERM")).toBe(0);
    expect(following.lines()).toEqual(written([...leads, ...more]));
    expect(following.errors()).toBe("");
  });

  test("--since begins there, itself included", async () => {
    const { url, leads, settings } = await aSource(3);
    const following = follow([url, "--since", leads[1]?.identified_at ?? ""], { settings });
    await until(() => following.lines().length === 2);
    expect(await following.end("SIGINT")).toBe(0);
    expect(following.lines()).toEqual(written(leads.slice(1)));
  });

  test("the key may come from a standard input that stays open", async () => {
    const { url, settings } = await aSource(1);
    const following = follow([url], { input: `${settings.LEADFILE_KEY}\n` });
    await until(() => following.lines().length === 1);
    expect(await following.end()).toBe(0);
  });

  test("a reader that closes the pipe ends it in order", async () => {
    const { url, settings } = await aSource(300);
    const [status, output] = await inShell(`(bun "$ADMIN" follow ${url}; echo $? > status) | head -n 2`, settings);
    expect(output.split("\n")).toHaveLength(3);
    expect(status).toBe("0");
  });

  test("a reader that does not read does not delay a stop", async () => {
    const { url, settings } = await aSource(300);
    const program = `bun "$ADMIN" follow ${url} --checkpoint cp & echo $! > pid; wait $!; echo $? > status`;
    // It does not read: 300 leads are more than a pipe holds.
    const reader =
      "until [ -s cp ]; do sleep 0.1; done; kill $(cat pid); until [ -s status ]; do sleep 0.1; done; cat status";
    const [, output] = await inShell(`(${program}) | (${reader})`, settings);
    expect(output).toBe("0\n");
  });

  test("after a line that a kill cut off, leads begin on a new line", async () => {
    const { url, leads, settings } = await aSource(2);
    const folder = aFolder();
    const file = join(folder, "out");
    writeFileSync(file, '{"id":"half');
    const following = follow([url], { settings, output: openSync(file, "a") });
    await until(() => linesOf(file).length === 3);
    await following.end();
    expect(linesOf(file)).toEqual(['{"id":"half', ...written(leads)]);
  });

  test("a full disk is reported, and tried again with growing pauses", async () => {
    const { url, settings } = await aSource(1);
    const following = follow([url], { settings, output: openSync("/dev/full", "a") });
    await until(() => following.errors().includes("again in 1 s."));
    expect(await following.end()).toBe(0);
    expect(following.errors()).toMatch(/^[^\n]*ENOSPC[^\n]* again in 0\.5 s\.\n[^\n]*ENOSPC[^\n]* again in 1 s\.\n/);
  });
});

/** Runs a line of the shell; gives the text of the file `status`, if it wrote one, and its output. */
async function inShell(line: string, settings: Readonly<Record<string, string>>) {
  const folder = aFolder();
  const child = Bun.spawn(["/bin/sh", "-c", line], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ADMIN: program, ...settings },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const output = await child.stdout.text();
  await child.exited;
  return [linesOf(join(folder, "status"))[0], output] as const;
}
