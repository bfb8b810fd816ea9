/** Each command of the lab prints its usage, and refuses a wrong flag in one line before it does anything. */
import { expect, test } from "bun:test";
import { scripts } from "./package.json";

const commands = Object.entries(scripts).filter(([name]) => name !== "test");

async function run(script: string, ...args: readonly string[]) {
  const [, ...parts] = script.split(" ");
  const child = Bun.spawn([process.execPath, ...parts, ...args], {
    cwd: import.meta.dir,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, status };
}

test.each(commands)("%s --help shows its flags", async (name, script) => {
  const { stdout, stderr, status } = await run(script, "--help");
  expect(stdout).toMatch(new RegExp(`^Usage: bun run ${name} .*--`, "s"));
  expect([stderr, status]).toEqual(["", 0]);
});

test.each(commands)("%s rejects an unknown flag and a malformed value", async (name, script) => {
  const malformed = name === "faults" ? ["--only", "no such attack"] : ["--leads", "none"];
  for (const wrong of [["--anything"], malformed]) {
    const { stdout, stderr, status } = await run(script, ...wrong);
    expect(stderr).toMatch(new RegExp(`^error: .*${wrong[0]}\\b.*\n$`));
    expect([stdout, status]).toEqual(["", 2]);
  }
});

test("faults prints whole lines, the result last", async () => {
  // The quickest attack: it starts no process.
  const quick = ["--only", "the ledger of recipients", "--times", "20", "--seed", "1"];
  const { stdout, stderr, status } = await run(scripts.faults, ...quick);
  const lines = stderr.trimEnd().split("\n");
  expect([lines[0], lines[1], lines.at(-1)]).toEqual([
    expect.stringMatching(/^Seed 1; /),
    expect.stringMatching(/^the ledger of recipients: \d+ of 20$/),
    expect.stringMatching(/^the ledger of recipients: \d+ in \d+ s, 0 broken$/),
  ]);
  expect([stdout.split("\n")[1], status]).toEqual(["the ledger of recipients: held", 0]);
});
