/** Arguments and options that several commands take: an account, the id of a pixel, a name, a number. */

import { resolve } from "node:path";
import { readDatabasePath } from "../config.ts";
import { isName, isPixelId } from "../contract/pixel.ts";
import { editDistance } from "../contract/similar.ts";
import { type Account, findAccount, listAccounts } from "../db/accounts.ts";
import { adminCommand } from "../program-name.ts";
import { printable, UserError } from "../user-error.ts";
import type { CommandContext } from "./command.ts";
import { grouped } from "./terminal/numbers.ts";

/** The account with this ID or exact name; throws a UserError if there is none. */
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

/** Names the file: DATABASE_PATH may be set to another one than was meant. */
export function noAccounts(databasePath: string): string {
  return `There is no account in ${printable(resolve(databasePath))} yet. To create one: ${adminCommand} account create NAME`;
}

/** The known text that differs least, by up to a third of its letters; null if there is none. */
function closestTo(text: string, known: readonly string[]): string | null {
  const typed = text.toLowerCase().slice(0, 200);
  const near = known
    .map((one) => ({ one, distance: editDistance(typed, one.toLowerCase()) }))
    .filter(({ one, distance }) => distance <= one.length / 3);
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.one ?? null;
}

/** The id of a pixel; throws a UserError that names the option. */
export function checkPixelId(option: string, text: string): string {
  if (isPixelId(text.trim())) return text.trim();
  throw new UserError(
    `${option} takes an id of 1 to 200 characters, without control characters.`,
    "It must not begin with [, or be a word that means empty, such as null.",
    2,
  );
}

/** A name or id that people and terminals can live with; throws a UserError that names what it is of. */
export function checkText(what: string, text: string): string {
  const trimmed = text.trim();
  if (isName(trimmed)) return trimmed;
  throw new UserError(`${what} takes 1 to 200 characters, without control characters.`, "", 2);
}

/** The whole number of an option; throws a UserError that says what the option takes. `orElse` names what else it takes. */
export function readWholeNumber(option: string, text: string, least: number, most: number, orElse = ""): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UserError(`${option} takes a whole number from ${least} to ${grouped(most)}${orElse}.`, "", 2);
}

/** The seconds of an option, with up to three decimals; throws a UserError that says what the option takes. */
export function readSeconds(option: string, text: string, least: number, most: number): number {
  const seconds = /^\d{1,6}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= least && seconds <= most) return seconds;
  throw new UserError(`${option} takes seconds from ${least} to ${grouped(most)}, such as 5 or 0.5.`, "", 2);
}
