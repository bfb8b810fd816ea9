/** What the documents list is what the program has: settings, commands, options, names of columns. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { scripts } from "../../package.json";
import { settings } from "../../src/config.ts";
import { aliases } from "../../src/intake/vocabulary.ts";
import { theProgram } from "../program.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const readme = read("README.md");
const importing = read("docs/importing.md");

test("the README lists every setting with its default and meaning, and no other", () => {
  const rows = [...readme.matchAll(/^\| `([A-Z_]+)` \| `?([^`|]+?)`? \| (.+) \|$/gm)].map(([, ...cells]) => cells);
  const known = Object.entries(settings).map(([name, { fallback, meaning }]) => [name, fallback, meaning]);
  expect(rows).toEqual(known);
});

test("the README has fewer than 200 lines", () => {
  expect(readme.split("\n").length).toBeLessThan(200);
});

test("every script that the README names is there", () => {
  const named = [...readme.matchAll(/bun run (\w+)/g)].map(([, name]) => name ?? "");
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

test("every file that a document links to is there", () => {
  for (const path of ["README.md", "docs/importing.md", "docs/api.md", "docs/architecture.md"]) {
    for (const [, target = ""] of read(path).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      expect(() => read(join(path, "..", target))).not.toThrow();
    }
  }
});

test("the page on importing lists the names of every field, in the order of preference", () => {
  const lists = [...importing.matchAll(/^- `(\w+)`: (.+)$/gm)].map(([, field, names]) => [field, names?.split(", ")]);
  expect(lists).toEqual(Object.entries(aliases).map(([field, names]) => [field, [...new Set(names)]]));
});

test("the page on importing lists every option of lead import, and no other", () => {
  const listed = [...importing.matchAll(/^\| `(--[\w-]+)/gm)].map(([, option]) => option);
  const options = commandAt("lead", "import").options.map(({ long }) => long);
  expect(listed).toEqual(options.filter((option) => option !== "--json"));
});

test("every bun admin command that the documents name is there", () => {
  const named = [readme, importing, read("docs/api.md")].flatMap((text) => [
    ...text.matchAll(/bun admin ((?:account|pixel|key|lead) [a-z-]+)/g),
  ]);
  expect(named.length).toBeGreaterThan(0);
  for (const [, words = ""] of named) expect(commandAt(...words.split(" ")).name()).toBe(words.split(" ").at(-1) ?? "");
});

function commandAt(...names: string[]): Command {
  let command = theProgram();
  for (const name of names) {
    const next = command.commands.find((child) => child.name() === name);
    if (next === undefined) throw new Error(`there is no command ${names.join(" ")}`);
    command = next;
  }
  return command;
}
