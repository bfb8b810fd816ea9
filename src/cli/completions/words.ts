/** What can be typed after each command. */
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
