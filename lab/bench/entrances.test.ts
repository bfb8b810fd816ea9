/** Each command of the lab prints its usage, and refuses a wrong flag in one line before it does anything. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { scripts } from "../package.json";

const lab = join(import.meta.dir, "..");
const entrances = Object.entries(scripts).filter(([name]) => name !== "test");

async function run(script: string, ...args: readonly string[]) {
  const [, ...parts] = script.split(" ");
  const child = Bun.spawn([process.execPath, ...parts, ...args], { cwd: lab, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, status };
}

test.each(entrances)("%s --help shows its flags", async (name, script) => {
  const { stdout, stderr, status } = await run(script, "--help");
  expect(stdout).toMatch(new RegExp(`^ *bun run ${name} .*--`, "ms"));
  expect([stderr, status]).toEqual(["", 0]);
});

test.each(entrances)("%s rejects an unknown flag and a malformed number", async (name, script) => {
  for (const wrong of [["--anything"], ["--leads", "none"], ["--times", "none"]]) {
    const { stdout, stderr, status } = await run(script, ...wrong);
    expect(stderr).toMatch(new RegExp(`^.*${wrong[0]}\\b.* bun run ${name} --help shows what there is\\.\n$`));
    expect([stdout, status]).toEqual(["", 2]);
  }
});
