/** The options of an import, read and checked before anything is touched. */
import { resolve } from "node:path";
import { type Static, type TLiteral, type TSchema, Type } from "@sinclair/typebox";
import { Option } from "commander";
import { readDatabasePath } from "../../../config.ts";
import type { Account } from "../../../db/accounts.ts";
import { filesOf, lockRequestsOf, raftLogOf, serverLockOf } from "../../../db/database-files.ts";
import { openPixelReader } from "../../../db/pixels.ts";
import { Columns } from "../../../import/map/columns.ts";
import { type IdentityField, wholeIdentity } from "../../../import/map/identity.ts";
import type { LeadRules } from "../../../import/map/lead.ts";
import { readMapping } from "../../../import/map/mapping.ts";
import type { DateOrder } from "../../../import/map/values/times.ts";
import { isZone } from "../../../import/map/values/zones.ts";
import { DateOrders } from "../../../import/map/visit-time.ts";
import { type ImportMode, isUnattended } from "../../../import/new-lead.ts";
import { writablePath } from "../../../import/parse/rejects.ts";
import { adminCommand } from "../../../runtime/program-name.ts";
import { UserError } from "../../../runtime/user-error.ts";
import { checkPixelId } from "../../arguments.ts";
import type { AdminCommand, CommandContext } from "../../command.ts";
import type { Output } from "../../terminal/output.ts";

const oneOf = <Word extends string>(words: readonly Word[], description: string, argument: string) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description, argument },
  );

/** How a source is read: options of lead import and of source create, and settings in import.json, by the same names. */
export const ImportSettings = Type.Partial(
  Type.Object(
    {
      map: Type.String({
        argument: "<THEIRS=OURS,…>",
        description: "map columns to fields, or an object to person; COLUMN=- ignores a column",
      }),
      vendor: Type.String({
        argument: "<NAME>",
        description: "read with the profile of this vendor; none reads by names alone",
      }),
      pixel: Type.String({ argument: "<ID>", description: "the pixel of visits without one" }),
      "create-pixels": Type.Boolean({ description: "create the pixels that visits name" }),
      identity: Type.String({
        argument: "<FIELDS>",
        description: "identify visits without an ID by these fields only, such as email,page_url",
      }),
      "on-duplicate": oneOf(["skip", "replace"], "what to do with a lead that is already stored", "<WHAT>"),
      stamp: oneOf(["source", "arrival"], "use the time that is given, or the time of arrival", "<WHOSE>"),
      timezone: Type.String({
        argument: "<ZONE>",
        description: "the time zone of times without an offset, such as America/New_York",
      }),
      "day-first": Type.Boolean({ description: "read 01/02/2026 as February 1" }),
      "month-first": Type.Boolean({ description: "read 01/02/2026 as January 2" }),
    },
    { additionalProperties: false },
  ),
);
export type ImportSettings = Static<typeof ImportSettings>;

const defaults = { "on-duplicate": "skip", stamp: "source", timezone: "UTC" } as const;

/** Adds an option for each setting, apart from those that a command does not take. */
export function withImportOptions(command: AdminCommand, own: ImportSettings = {}, without = ""): AdminCommand {
  const fallbacks: ImportSettings = { ...defaults, ...own };
  for (const [name, { description, argument, anyOf }] of Object.entries<TSchema>(ImportSettings.properties)) {
    if (name === without) continue;
    const option = new Option(argument === undefined ? `--${name}` : `--${name} ${argument}`, description);
    if (anyOf !== undefined) option.choices(anyOf.map((word: TLiteral) => word.const));
    command.addOption(option.default(new Map(Object.entries(fallbacks)).get(name)));
  }
  return command;
}

type OptionName<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<OptionName<Rest>>}`
  : Name;
/** The settings by the names that commander gives their options, such as dayFirst for day-first. */
type ImportChoices = { readonly [Name in keyof ImportSettings as OptionName<Name>]: ImportSettings[Name] };

/** The settings of an import and its other options, as typed, or as an inbox or a source has them. */
export interface ImportRequest extends ImportChoices {
  readonly onDuplicate: "skip" | "replace";
  readonly stamp: "source" | "arrival";
  readonly timezone: string;
  readonly rejects?: string | undefined;
  /** The final folder of the rejected rows, if it is another one. */
  readonly rejectsKept?: string;
  /** True if the command must not ask questions. */
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  /** By default, a person typed the command. */
  readonly mode?: ImportMode;
}

const optionOf = (name: string) => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the options of an import with some settings. */
export function requestOf(settings: ImportSettings): ImportRequest {
  const all = Object.entries({ ...defaults, ...settings }).map(([name, value]) => [optionOf(name), value]);
  return Object.fromEntries(all) as ImportRequest; // The names of options have the types of their settings.
}

/** Picks the settings of an import out of the options of a command. Drops other options. */
export function settingsOf(options: object): ImportSettings {
  const all = new Map(Object.entries(options));
  const names = Object.keys(ImportSettings.properties).filter((name) => all.get(optionOf(name)) !== undefined);
  return Object.fromEntries(names.map((name) => [name, all.get(optionOf(name))]));
}

/** The file and the options of one import. */
export interface Asked {
  /** The account as it was typed. */
  readonly idOrName: string;
  readonly file: string;
  readonly request: ImportRequest;
  /** Ends the import in order when it is aborted, with the signal of the system as its reason. */
  readonly stop: AbortSignal;
  /** Called when the file was read to its end, before the first lead is written. */
  readonly onRead?: () => void;
}

/** An import that runs. */
export interface ImportRun extends Asked {
  readonly output: Output;
  readonly account: Account;
  readonly columns: Columns;
  /** The pixels that the account had before. */
  readonly pixels: ReadonlySet<string>;
  /** True if a person at a terminal can answer questions. */
  readonly isAttended: boolean;
}

/** Returns the columns and the rules with which rows are read. Throws a UserError that names the option that is wrong. */
export function prepareReading(context: CommandContext, account: Account, request: ImportRequest) {
  const { map = null, vendor = null, pixel, timezone: zone, identity, stamp, mode = "command" } = request;
  const columns = new Columns(readMapping(map), vendor);
  if (!isZone(zone)) {
    throw new UserError(
      `--timezone is ${JSON.stringify(zone)}, which is not an IANA time zone.`,
      "Pass a name such as America/New_York or UTC.",
      2,
    );
  }
  const rules: LeadRules = {
    account: account.id,
    pixelId: pixel === undefined ? null : checkPixelId("--pixel", pixel),
    identity: identity === undefined ? wholeIdentity : readIdentity(identity),
    ...{ stamp, mode, zone },
    orders: new DateOrders(orderOf(request)),
  };
  if (rules.pixelId !== null && request.createPixels !== true) {
    if (!openPixelReader(context.database().read).has(account.number, rules.pixelId)) throw noPixel(rules.pixelId);
  }
  return { columns, rules };
}

function noPixel(id: string): UserError {
  return new UserError(
    `The account has no pixel ${JSON.stringify(id)}.`,
    `Pass --create-pixels (in import.json, "create-pixels": true), or create it: ${adminCommand} pixel create ACCOUNT --id ID`,
  );
}

function orderOf({ dayFirst, monthFirst }: ImportRequest): DateOrder | null {
  if (dayFirst === true && monthFirst === true) {
    throw new UserError("--day-first and --month-first cannot be combined.", "Pass one of them.", 2);
  }
  if (dayFirst === true) return "day first";
  return monthFirst === true ? "month first" : null;
}

/** Returns the fields in one order: the next import of the same rows may name them in another one. */
function readIdentity(text: string): IdentityField[] {
  const named = text.split(",").map((part) => {
    const field = wholeIdentity.find((known) => known === part.trim());
    if (field !== undefined) return field;
    throw new UserError(
      `--identity has the unknown field ${JSON.stringify(part)}.`,
      `The fields are ${wholeIdentity.join(", ")}.`,
      2,
    );
  });
  return wholeIdentity.filter((field) => named.includes(field));
}

/**
 * Returns the request with a writable path for rejected rows. Throws a UserError if --rejects names a file of the
 * database, whether or not it exists. Never overwrites a file.
 */
export function withWritableRejects(request: ImportRequest): ImportRequest {
  const { rejects, mode } = request;
  if (rejects === undefined) return request;
  if (rejects === "-") throw new UserError("--rejects is -, which is not a file.", "Name a file.", 2);
  const path = readDatabasePath();
  const files = [...filesOf(path), lockRequestsOf(path), serverLockOf(path), raftLogOf(path)];
  if (files.some((file) => resolve(file) === resolve(rejects))) {
    throw new UserError(`--rejects names a file of the database ${path}.`, "Name another file.", 2);
  }
  // The inbox chooses the file name. A file from an earlier attempt may exist.
  return { ...request, rejects: writablePath(rejects, isUnattended(mode)) };
}
