/** bun admin follow to standard output, its checkpoint, and what it refuses. */
import { describe, expect, test } from "bun:test";
import { existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { someLeads } from "../../../support/builders.ts";
import { until } from "../../../support/eventually.ts";
import { aFolder } from "../../../support/folder.ts";
import { needing } from "../../../support/needing.ts";
import { adminCommand, start } from "../../../support/process.ts";
import { aSmallDisk } from "../../../support/small-disk.ts";
import { aSource, follow, linesOf, written } from "./following.ts";

describe("writing to standard output", () => {
  test("writes existing leads oldest first, as served, and then new ones, until SIGTERM", async () => {
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

  test("reads the key from a standard input that stays open, and leads from another machine with --allow-plain-http", async () => {
    const { url, settings } = await aSource(1);
    const another = [url.replace("127.0.0.1", "0.0.0.0"), "--allow-plain-http"];
    const following = follow(another, { input: `${settings.LEADFILE_KEY}\n` });
    await until(() => following.lines().length === 1);
    expect(await following.end()).toBe(0);
  });

  test("a closed pipe ends it in an orderly way", async () => {
    const { url, settings } = await aSource(300);
    const [status, output] = await inShell(`("$@" follow ${url}; echo $? > status) | head -n 2`, settings);
    expect(output.split("\n")).toHaveLength(3);
    expect(status).toBe("0");
  });

  test("a reader that does not read does not delay a stop", async () => {
    const { url, settings } = await aSource(300);
    const program = `"$@" follow ${url} --checkpoint cp & echo $! > pid; wait $!; echo $? > status`;
    // It does not read: 300 leads are more than a pipe holds.
    const reader =
      "until [ -s cp ]; do sleep 0.1; done; kill $(cat pid); until [ -s status ]; do sleep 0.1; done; cat status";
    const [, output] = await inShell(`(${program}) | (${reader})`, settings);
    expect(output).toBe("0\n");
  });

  test("starts a new line after a line truncated by a kill", async () => {
    const { url, leads, settings } = await aSource(2);
    const folder = aFolder();
    const file = join(folder, "out");
    writeFileSync(file, '{"id":"half');
    const following = follow([url], { settings, output: openSync(file, "a") });
    await until(() => linesOf(file).length === 3);
    await following.end();
    expect(linesOf(file)).toEqual(['{"id":"half', ...written(leads)]);
  });

  test("reports a full disk, and retries with growing pauses", async () => {
    const { url, settings } = await aSource(1);
    const following = follow([url], { settings, output: openSync("/dev/full", "a") });
    await until(() => following.errors().includes("again in 1 s,"));
    expect(await following.end()).toBe(0);
    expect(following.errors()).toMatch(
      /^[^\n]*ENOSPC[^\n]* again in 0\.5 s, at \S+Z\.\n[^\n]*ENOSPC[^\n]* again in 1 s, at \S+Z\.\n/,
    );
  });
});

/** Runs a line of the shell; gives the text of the file `status`, if it wrote one, and its output. */
async function inShell(line: string, settings: Readonly<Record<string, string>>) {
  const { folder, exited, output } = start(settings, aFolder(), ["sh", "-c", line, "sh", ...adminCommand]);
  await exited;
  return [linesOf(join(folder, "status"))[0], output()] as const;
}

test("rejects a checkpoint in use, and a kill of its process releases it", async () => {
  const { url, settings, importMore } = await aSource(1);
  const first = follow([url, "--checkpoint", "cp"], { settings });
  await until(() => first.lines().length === 1);
  const second = follow([url, "--checkpoint", "cp"], { settings, folder: first.folder });
  expect(await second.exited).toBe(1);
  expect([second.errors(), second.lines()]).toEqual([
    "Another follow uses the checkpoint cp. Stop it, or name another checkpoint.\n",
    [],
  ]);
  await first.end("SIGKILL");
  const more = someLeads(1);
  importMore(more);
  const third = follow([url, "--checkpoint", "cp"], { settings, folder: first.folder });
  await until(() => third.lines().at(-1) === written(more)[0]);
  await third.end();
  expect(third.errors()).toBe("");
});

needing("mount")("rejects a checkpoint that cannot be written before the first lead", async () => {
  const { url, settings } = await aSource(0);
  using disk = aSmallDisk(aFolder(), "size=64k");
  const args = [url, "--checkpoint", join(disk.path, "cp")];
  const first = follow(args, { settings });
  await until(() => existsSync(join(disk.path, "cp")));
  await first.end();
  expect(Bun.spawnSync(["mount", "-o", "remount,ro", disk.path]).exitCode).toBe(0);
  const second = follow(args, { settings });
  expect([await second.exited, second.errors()]).toEqual([1, expect.stringContaining("EROFS")]);
});

test("a command that runs with a checkpoint creates files with the umask of its caller", async () => {
  const { url, leads, settings } = await aSource(1);
  const command = "umask > mask.part; mv mask.part mask; cat >> taken";
  const following = follow([url, "--checkpoint", "cp", "--exec", command], { settings });
  await until(() => linesOf(join(following.folder, "taken")).length === 1);
  await following.end();
  expect(linesOf(join(following.folder, "taken"))).toEqual(written(leads));
  expect(Number.parseInt(readFileSync(join(following.folder, "mask"), "utf8"), 8)).toBe(process.umask());
});

describe("rejects an invalid option in one line", () => {
  test.each([
    [["--exec", "true", "--post", "https://crm.example.com"], 2, "either --exec or --post"],
    [["--post", "http://crm.example.com/leads"], 2, "--allow-plain-http"],
    [["--post", "https://me:secret@crm.example.com"], 2, "takes an address"],
    [["--post", "crm"], 2, "takes an address"],
    [["--post", "https://crm.example.com"], 2, "LEADFILE_POST_SECRET"],
    [["--give-up-after", "3"], 2, "--dead-letter FILE"],
    [["--dead-letter", "dead"], 2, "--exec or --post"],
    [["--exec", "true", "--dead-letter", "dead", "--give-up-after", "0"], 2, "from 1"],
    [["--exec", "true", "--dead-letter", "no/such/folder/dead"], 1, "no/such/folder/dead"],
    [["--since", "yesterday"], 2, "--since"],
    [["--since", "2026-01-31T09:15:00"], 2, "its offset"],
    [["--since", "2026-13-31"], 2, "--since"],
    [["--overlap", "long"], 2, "--overlap takes"],
    [["--checkpoint", "no/such/folder/cp"], 1, "no/such/folder/cp"],
    [["www.example.com"], 2, "URL takes an address"],
    [["http://www.example.com"], 2, "--allow-plain-http"],
  ])("%j", async (args, status, says) => {
    const { url, settings } = await aSource(0);
    const words = args[0]?.startsWith("--") ? [url, ...args] : args;
    await refused(follow(words, { settings }), status, says);
  });

  test("a missing key and a revoked key", async () => {
    const { url, aRevokedKey } = await aSource(0);
    await refused(follow([url], { input: "\n" }), 2, "LEADFILE_KEY");
    const revoked = aRevokedKey();
    const following = follow([url], { settings: { LEADFILE_KEY: revoked } });
    await refused(following, 1, "revoked_api_key");
    expect(following.errors()).not.toContain(revoked);
  });

  test("a file that is not a checkpoint", async () => {
    const { url, settings } = await aSource(1);
    const folder = aFolder();
    writeFileSync(join(folder, "cp"), "years of work");
    await refused(follow([url, "--checkpoint", "cp"], { settings, folder }), 2, "checkpoint cannot be read");
    expect(readFileSync(join(folder, "cp"), "utf8")).toBe("years of work");
  });
});

async function refused(following: ReturnType<typeof follow>, status: number, says: string): Promise<void> {
  expect([await following.exited, following.errors()]).toEqual([status, expect.stringContaining(says)]);
  expect(following.errors().split("\n")).toHaveLength(2);
}
