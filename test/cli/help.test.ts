/** The help of every command. */
import { expect, test } from "bun:test";
import type { Command } from "commander";
import { anAdmin } from "../support/admin.ts";
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
