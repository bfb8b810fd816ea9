/** The output of `bun run faults` on a terminal and in a log. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { plain, startOnTerminal } from "../../test/support/terminal.ts";

const program = join(import.meta.dir, "run.ts");
/** The quickest attack: it needs no server and no file. */
const quick = ["--only", "a clock that jumps", "--times", "2000", "--seed", "1"];

async function run(...args: string[]) {
  const child = Bun.spawn([process.execPath, program, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, status };
}

test("prints whole lines to a log, the result last", async () => {
  const { stdout, stderr, status } = await run(...quick);
  for (const moving of ["\r", "\x1b"]) expect(stderr + stdout).not.toContain(moving);
  const lines = stderr.trimEnd().split("\n");
  expect(lines[0]).toStartWith("Seed 1; ");
  expect(lines[1]).toBe("a clock that jumps: 0 of 2000");
  expect(lines.at(-1)).toMatch(/^a clock that jumps: \d+ in \d+ s, 0 broken$/);
  expect(lines.length).toBeLessThan(5);
  expect([stdout.split("\n")[1], status]).toEqual(["a clock that jumps: held", 0]);
});

test("shows one progress line on a terminal, and clears it at the end", async () => {
  const terminal = startOnTerminal([process.execPath, program, ...quick], {});
  expect(await terminal.ended).toBe(0);
  const shown = terminal.shown();
  expect(shown).toMatch(/a clock that jumps: \d+ of 2000(?!\r?\n)/);
  expect(plain(shown).split("\n").length).toBeLessThan(12);
});
