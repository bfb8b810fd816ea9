/** bun admin follow --checkpoint: one process for one checkpoint, and one account for it. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { someLeads } from "../../../support/builders.ts";
import { until } from "../../../support/eventually.ts";
import { aFolder } from "../../../support/folder.ts";
import { needing } from "../../../support/needing.ts";
import { aSmallDisk } from "../../../support/small-disk.ts";
import { aSource, follow, linesOf, written } from "./following.ts";

test("a second follow with a checkpoint in use is refused, and a kill of the first one leaves it free", async () => {
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

test("the checkpoint of another account is refused in one line, and stays as it was", async () => {
  const { url, settings, aKey, anAccount } = await aSource(1);
  const first = follow([url, "--checkpoint", "cp"], { settings });
  await until(() => first.lines().length === 1);
  await first.end();
  const checkpoint = readFileSync(join(first.folder, "cp"), "utf8");
  const others = { LEADFILE_KEY: aKey(anAccount({ leads: someLeads(1, { pixel_id: "px_other" }) })) };
  const second = follow([url, "--checkpoint", "cp"], { settings: others, folder: first.folder });
  expect(await second.exited).toBe(2);
  expect(second.errors()).toMatch(
    /^The checkpoint was written with another key, .* with --since 2026-\S+Z begins .*\n$/,
  );
  expect(readFileSync(join(first.folder, "cp"), "utf8")).toBe(checkpoint);
});

needing("mount")("a checkpoint that cannot be written is refused before any lead comes", async () => {
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
