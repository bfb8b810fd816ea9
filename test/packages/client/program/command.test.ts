/** bun admin follow --exec: a process for each lead, and again until it has taken it. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../support/eventually.ts";
import { aSource, follow, linesOf, written } from "./following.ts";

describe("to a command", () => {
  test("each lead is on its standard input, one process each, in order", async () => {
    const { url, leads, settings } = await aSource(3);
    const following = follow([url, "--exec", "cat >> taken"], { settings });
    const file = join(following.folder, "taken");
    await until(() => linesOf(file).length === 3);
    expect(await following.end()).toBe(0);
    expect(linesOf(file)).toEqual(written(leads));
  });

  test("a lead that it did not take comes again before any other, with growing pauses", async () => {
    const { url, leads, settings } = await aSource(2);
    const fails = "cat >> tried; test $(wc -l < tried) -ge 3";
    const following = follow([url, "--exec", fails, "--checkpoint", "cp"], { settings });
    const file = join(following.folder, "tried");
    await until(() => linesOf(file).length === 4);
    await following.end();
    const [first, second] = written(leads);
    expect(linesOf(file)).toEqual([first, first, first, second] as string[]);
    const again = `Lead ${leads[0]?.id} is tried again in`;
    expect(following.errors()).toBe(
      `The command ended with status 1. ${again} 0.5 s.\nThe command ended with status 1. ${again} 1 s.\n`,
    );
  });

  test("a stop between two tries leaves the lead to the next start", async () => {
    const { url, leads, settings } = await aSource(1);
    const first = follow([url, "--exec", "false", "--checkpoint", "cp"], { settings });
    await until(() => first.errors() !== "");
    expect(await first.end()).toBe(0);
    const second = follow([url, "--checkpoint", "cp"], { settings, folder: first.folder });
    await until(() => second.lines().length === 1);
    await second.end();
    expect(second.lines()).toEqual(written(leads));
  });

  test("a stop lets it finish the lead in hand", async () => {
    const { url, settings } = await aSource(2);
    const slow = "echo began >> log; until [ -e go ]; do sleep 0.05; done; echo done >> log";
    const following = follow([url, "--exec", slow, "--checkpoint", "cp"], { settings });
    const log = join(following.folder, "log");
    await until(() => linesOf(log).length === 1);
    const ended = following.end();
    writeFileSync(join(following.folder, "go"), "");
    expect(await ended).toBe(0);
    expect(linesOf(log)).toEqual(["began", "done"]);
    const next = follow([url, "--checkpoint", "cp"], { settings, folder: following.folder });
    await until(() => next.lines().length === 1);
    await next.end();
  });

  test("it sees the environment, but neither the key nor the secret", async () => {
    const { url, settings } = await aSource(1);
    const more = { LEADFILE_POST_SECRET: "a secret of the receiver", COLOUR: "green" };
    const following = follow([url, "--exec", "env > seen.part; mv seen.part seen"], {
      settings: { ...settings, ...more },
    });
    await until(() => existsSync(join(following.folder, "seen")));
    await following.end();
    const seen = readFileSync(join(following.folder, "seen"), "utf8");
    expect(seen).toContain("COLOUR=green");
    expect(seen).not.toContain("LEADFILE_");
  });
});
