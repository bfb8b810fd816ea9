/** What can be typed after each command, and how a shell is told. */
import type { Command } from "commander";

export interface Word {
  readonly text: string;
  /** One line on what it is. */
  readonly about: string;
}

/** One place on the command line: a command, and what may follow it. */
export interface Place {
  /** The words of the command, such as `lead import`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly Word[];
  /** Options with a choice of values, by their name. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
}

/** Every place of a program, the program itself first. */
export function wordsOf(program: Command, path = ""): Place[] {
  const below = program.commands.map((child) => ({ text: child.name(), about: child.description() }));
  const options = [
    ...program.options.map(({ long, description }) => ({ text: long ?? "", about: description })),
    { text: "--help", about: "say how it is used" },
  ];
  const values = (program.registeredArguments[0]?.argChoices ?? []).map((text) => ({ text, about: "" }));
  const choices = Object.fromEntries(
    program.options.flatMap(({ long, argChoices }) => (long && argChoices ? [[long, argChoices]] : [])),
  );
  const place = { path, words: [...below, ...values, ...options], choices };
  return [place, ...program.commands.flatMap((child) => wordsOf(child, `${path} ${child.name()}`.trim()))];
}

/** A text as a word of a shell, whatever is in it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A function for bash and zsh: it runs the command that belongs to its argument, and fails where none does. */
export function shellFunction(
  name: string,
  commands: readonly (readonly [argument: string, command: string])[],
): string {
  const cases = commands.map(([argument, command]) => `    ${quoted(argument)}) ${command} ;;`);
  return `${name}() {\n  case "$1" in\n${cases.join("\n")}\n    *) return 1 ;;\n  esac\n}`;
}

/** The options of all places that have a choice of values: what was typed up to the option, and the values. */
export function choicesOf(places: readonly Place[]): [typed: string, values: readonly string[]][] {
  return places.flatMap(({ path, choices }) =>
    Object.entries(choices).map(([option, values]): [string, readonly string[]] => [`${path} ${option}`, values]),
  );
}
