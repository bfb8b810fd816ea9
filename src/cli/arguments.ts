/** Arguments and options of several commands: an account, the ID of a pixel, a name, a number. */

import { resolve } from "node:path";
import { pathFromShell, readDatabasePath } from "../config.ts";
import { isName, isPixelId } from "../contract/pixel.ts";
import { closestTo } from "../contract/similar.ts";
import { type Account, findAccount, listAccounts } from "../db/accounts.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { printable, UserError } from "../runtime/user-error.ts";
import { type CommandContext, jsonCommand } from "./command.ts";
import { grouped } from "./terminal/numbers.ts";

/** Returns a command that takes --json, and an account as its first argument. */
export function commandOnAccount(context: CommandContext, name: string, examples: readonly string[]) {
  return jsonCommand(name, examples).argument("<ACCOUNT>", "ID or exact name", accountIn(context));
}

/** Returns the parser of an argument or an option that is an account. */
export function accountIn(context: CommandContext): (idOrName: string) => Account {
  return (idOrName) => accountOf(context, idOrName);
}

/** Returns the account with this ID or exact name; throws a UserError if there is none. */
export function accountOf(context: CommandContext, idOrName: string): Account {
  const { read } = context.database();
  const account = findAccount(read, idOrName);
  if (account !== null) return account;
  const all = listAccounts(read);
  const what = `There is no account ${JSON.stringify(idOrName)}.`;
  if (all.length === 0) throw new UserError(what, noAccounts(readDatabasePath()));
  const near = closestTo(
    idOrName,
    all.flatMap(({ id, name }) => [name, id]),
  );
  const advice = near === null ? "" : `Did you mean ${JSON.stringify(printable(near))}? `;
  throw new UserError(what, `${advice}To list the accounts, run: ${adminCommand} account list`);
}

/** Names the file, because DATABASE_PATH may be set to the wrong one. */
export function noAccounts(databasePath: string): string {
  return `There is no account in ${printable(resolve(databasePath))} yet. To create one: ${adminCommand} account create NAME`;
}

/** Returns the ID of a pixel; throws a UserError that names the option. */
export function checkPixelId(option: string, text: string): string {
  if (isPixelId(text.trim())) return text.trim();
  throw new UserError(
    `${option} takes an ID of 1 to 200 characters, without control characters.`,
    "It must not begin with [, or be a word that means empty, such as null.",
    2,
  );
}

/**
 * Parses an argument or an option that is a file: a relative path is in the folder in which it was typed, which `bun run`
 * leaves. Standard input, and the address of an object store, stay as they are.
 */
export function typedPath(text: string): string {
  if (text === "-" || /^\w+:\/\//.test(text)) return text;
  const path = pathFromShell(text);
  return path === resolve(text) ? text : path;
}

/** Returns a text without control characters that is not too long; throws a UserError that names the argument. */
export function checkText(what: string, text: string): string {
  const trimmed = text.trim();
  if (isName(trimmed)) return trimmed;
  throw new UserError(`${what} takes 1 to 200 characters, without control characters.`, "", 2);
}

/** Returns the parser of an option that takes a whole number; it throws a UserError that says so. */
export function wholeNumber(option: string, min: number, max: number, orElse = ""): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new UserError(`${option} takes a whole number from ${min} to ${grouped(max)}${orElse}.`, "", 2);
  };
}

/** Returns the parser of an option that takes seconds, with up to three decimals. */
export function seconds(option: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const seconds = /^\d{1,6}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (seconds >= min && seconds <= max) return seconds;
    throw new UserError(`${option} takes seconds from ${min} to ${grouped(max)}, such as 5 or 0.5.`, "", 2);
  };
}
