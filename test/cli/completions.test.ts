/** bun admin completions: the scripts complete every command and option in bash, zsh, and fish. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { needing } from "../support/needing.ts";
import { runNow } from "../support/process.ts";
import { theProgram } from "../support/program.ts";

const admin = () => anAdmin([]);

/** What is completed after some words: for the cursor at the end of a line. */
const completed: readonly [line: string, has: readonly string[], lacks: readonly string[]][] = [
  ["leadfile ", ["account", "lead", "backup", "alert", "inbox", "follow"], ["create", "--map"]],
  ["leadfile-admin key r", ["revoke", "rotate"], ["create", "remove"]],
  ["leadfile lead import acme --m", ["--map", "--month-first"], ["--timezone"]],
  ["leadfile lead --help import acme --dry", ["--dry-run"], ["--map"]],
];

/** Prints the completions of a line in a shell that has loaded a script. */
const inBash = (script: string, line: string) => {
  const words = line.split(" ").map((word) => `"${word}"`);
  return [
    "bash",
    "-c",
    `source ${script}; COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _leadfile; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ];
};
const inFish = (script: string, line: string) => [
  "fish",
  "--no-config",
  "-c",
  `source ${script}; complete --do-complete '${line}'`,
];

for (const [shell, command] of [
  ["bash", inBash],
  ["fish", inFish],
] as const) {
  needing(shell)(`${shell} completes commands, subcommands, and options`, async () => {
    const one = admin();
    const script = one.put("script", (await one.run("completions", shell)).stdout);
    for (const [line, has, lacks] of completed) {
      const { stdout, stderr } = runNow(...command(script, line));
      const words = stdout.split(/\s+/);
      expect([line, stderr]).toEqual([line, ""]);
      for (const word of has) expect(words).toContain(word);
      for (const word of lacks) expect(words).not.toContain(word);
    }
  });
}

needing("zsh")("zsh loads its script, and knows both programs", async () => {
  const one = admin();
  const script = one.put("script", (await one.run("completions", "zsh")).stdout);
  const load = `autoload -U compinit && compinit -u -d ${join(one.folder, "dump")} && source ${script} && echo $_comps[leadfile] $_comps[leadfile-admin]`;
  const { stdout, stderr } = runNow("zsh", "-f", "-c", load);
  expect([stdout.match(/_leadfile/g)?.length, stderr]).toEqual([2, ""]);
});

test("the scripts have every command and option, and another shell is refused", async () => {
  const { stdout } = await admin().run("completions", "bash");
  const walk = (command: Awaited<ReturnType<typeof theProgram>>): string[] => [
    ...command.options.flatMap(({ long }) => long ?? []),
    ...command.commands.flatMap((below) => [below.name(), ...walk(below)]),
  ];
  const missing = walk(await theProgram()).filter((word) => !new RegExp(`[ "]${word}[ "]`).test(stdout));
  expect(missing).toEqual([]);
  const { status, stderr } = await admin().run("completions", "csh");
  expect([status, stderr]).toEqual([2, expect.stringContaining("bash, zsh, fish")]);
});
