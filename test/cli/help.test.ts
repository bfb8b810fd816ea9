/** The help of every command, and the words that shells complete. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { anAdmin } from "../support/admin.ts";
import { aFolder } from "../support/folder.ts";
import { theProgram } from "../support/program.ts";

/** Every command with its words. */
function commandsBelow(
  command: Command,
  path: readonly string[] = [],
): { path: readonly string[]; command: Command }[] {
  return command.commands.flatMap((child) => {
    const here = [...path, child.name()];
    return [{ path: here, command: child }, ...commandsBelow(child, here)];
  });
}

const all = commandsBelow(await theProgram());

/** The help as it is printed, with what stands behind it. */
function helpOf(command: Command): string {
  let said = "";
  command.configureOutput({ writeOut: (text) => void (said += text) }).outputHelp();
  return said;
}

test.each(all.map(({ path, command }) => [path.join(" "), command] as const))(
  "the help of %s has examples, and each names commands and options that there are, and those that must be given",
  (path, command) => {
    const examples =
      helpOf(command)
        .split("Examples:\n")[1]
        ?.split("\n")
        .filter((line) => line !== "") ?? [];
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const words = (example.split("bun admin ")[1] ?? "").split(/ [<>|] /)[0]?.match(/"[^"]*"|\S+/g) ?? [];
      const found = all.findLast(({ path }) => path.every((word, position) => words[position] === word));
      expect(`${found?.path.join(" ")} `).toStartWith(`${path} `);
      const known = found?.command.options.map(({ long }) => long) ?? [];
      expect(words.filter((word) => word.startsWith("--") && !known.includes(word))).toEqual([]);
      const needed = found?.command.options.filter(({ mandatory }) => mandatory) ?? [];
      expect(needed.filter(({ long }) => !words.some((word) => word === long))).toEqual([]);
    }
  },
);

test.each(all.map(({ path, command }) => [path.join(" "), command] as const))(
  "the help of %s fits 80 columns",
  (_, command) => {
    const lines = helpOf(command).split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  },
);

test.each([
  ["acount list", "account"],
  ["lead imprt acme x", "import"],
  ["key create acme --lable x", "--label"],
  ["demo --life", "--live"],
])("bun admin %s is asked whether it means %s", async (line, meant) => {
  const { stderr, status } = await anAdmin().run(...line.split(" "));
  expect([status, stderr]).toEqual([2, expect.stringContaining(`Did you mean ${meant}?`)]);
});

describe("completions", () => {
  const shells = ["bash", "zsh", "fish"] as const;

  /** What a shell offers behind a line. */
  async function offered(shell: (typeof shells)[number], line: string): Promise<string[]> {
    const folder = aFolder();
    const script = join(folder, "leadfile");
    writeFileSync(script, (await anAdmin().run("completions", shell)).stdout);
    const words = line.split(" ");
    const asked = {
      bash: `source ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
        compopt() { :; }; _leadfile${words[0] === "bun" ? "_bun" : ""}; printf '%s\\n' "\${COMPREPLY[@]}"`,
      zsh: `compdef() { :; }; _files() { :; }; _describe() { print -l -- \${found%%:*}; }; source ${script}
        words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}
        _leadfile${words[0] === "bun" ? "_bun" : ""}`,
      fish: `source ${script}; complete -C '${line}' | string replace -r '\\t.*' ''`,
    };
    const child = Bun.spawnSync(
      [shell, ...(shell === "bash" ? ["--norc"] : shell === "zsh" ? ["-f"] : ["-N"]), "-c", asked[shell]],
      {
        cwd: folder,
        env: { PATH: process.env["PATH"] ?? "", HOME: folder },
      },
    );
    expect(child.stderr.toString()).toBe("");
    const last = words.at(-1) ?? "";
    return child.stdout
      .toString()
      .split("\n")
      .filter((word) => word !== "" && word.startsWith(last));
  }

  describe.each(shells)("for %s", (shell) => {
    const here = Bun.which(shell) !== null;
    const told = here ? "" : ` (skipped: no ${shell} here)`;
    test.skipIf(!here).each([
      ["bun admin le", "lead"],
      ["leadfile le", "lead"],
      ["bun admin key ", "create,list,revoke,check"],
      ["leadfile account d", "deactivate"],
      ["leadfile lead import acme --rej", "--rejects"],
      ["bun admin lead import acme --on-duplicate ", "skip,replace"],
      ["leadfile lead export acme --format c", "csv"],
      ["bun admin completions z", "zsh"],
    ])(`%s is completed by %s${told}`, async (line, words) => {
      const found = await offered(shell, line);
      expect(found).toEqual(expect.arrayContaining(words.split(",")));
      expect(found).not.toContain("demo");
    });
  });
});
