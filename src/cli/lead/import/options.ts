/** The options of an import, read and checked before anything is changed. */
import { resolve } from "node:path";
import { Command, Option, type OptionValues } from "@commander-js/extra-typings";
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
import type { AnyCommand, CommandContext } from "../../command.ts";
import type { Output } from "../../terminal/output.ts";

/** Adds the options that control how a source is read. Folders of an inbox and webhooks have settings of the same names. */
export function withReadingOptions<Given extends unknown[], Options extends OptionValues>(
  command: Command<Given, Options>,
  stamp: "source" | "arrival" = "source",
) {
  return command
    .option("--map <THEIRS=OURS,…>", "map columns to fields, or an object to person; COLUMN=- ignores a column")
    .option("--vendor <NAME>", "use the profile of this vendor; none uses only the table of names")
    .option("--pixel <ID>", "the pixel of visits without one")
    .option("--create-pixels", "create the pixels that visits name")
    .option("--identity <FIELDS>", "identify visits without an ID by these fields only, such as email,page_url")
    .addOption(
      new Option("--stamp <WHOSE>", "use the time in the source, or the time of arrival")
        .choices(["source", "arrival"])
        .default(stamp),
    )
    .option("--timezone <ZONE>", "the time zone of times without an offset, such as America/New_York", "UTC")
    .option("--day-first", "read 01/02/2026 as February 1")
    .option("--month-first", "read 01/02/2026 as January 2");
}

/** Adds all options of an import that can be settings. */
export function withImportOptions<Given extends unknown[], Options extends OptionValues>(
  command: Command<Given, Options>,
) {
  return withReadingOptions(command).addOption(
    new Option("--on-duplicate <WHAT>", "what to do with a lead that is already stored")
      .choices(["skip", "replace"])
      .default("skip"),
  );
}

type ImportChoices = ReturnType<ReturnType<typeof withImportOptions<[], Record<never, never>>>["opts"]>;

/** The options of an import, as typed, or as the settings of an inbox or a source. */
export interface ImportRequest extends Readonly<ImportChoices> {
  readonly rejects?: string | undefined;
  /** The final folder of the rejected rows, if it is another one. */
  readonly rejectsKept?: string;
  /** True if the command must not ask questions. */
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  /** The kind of import; by default, a command that a person typed. */
  readonly mode?: ImportMode;
}

/** The options of an import by their long names, such as day-first. */
export type ImportSettings = Readonly<Record<string, string | boolean>>;

/** The long names of the options that can be settings. */
export const settingNames = withImportOptions(new Command()).options.map((option) => option.name());

/** Parses settings like typed options. Throws if commander refuses them. */
export function requestOf(settings: ImportSettings): ImportRequest {
  const given = Object.entries(settings).filter(([, value]) => value !== false);
  const words = given.map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`));
  const command = withImportOptions(new Command())
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  return command.parse(words, { from: "user" }).opts();
}

/** Returns the options of a command that can be settings, with the values that were typed, or the defaults. */
export function settingsOf(command: AnyCommand): ImportSettings {
  const options = command.options.filter((option) => settingNames.includes(option.name()));
  const given = options.map((option) => [option.name(), command.getOptionValue(option.attributeName())]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** The file and the options of one import. */
export interface Asked {
  /** The account as it was typed. */
  readonly idOrName: string;
  readonly file: string;
  readonly request: ImportRequest;
  /** Ends the import cleanly when it is aborted. Its reason is the signal that the process received. */
  readonly stop: AbortSignal;
  /** Called when the whole file has been read, before the first lead is written. */
  readonly onRead?: () => void;
}

/** A running import. */
export interface ImportRun extends Asked {
  readonly output: Output;
  readonly account: Account;
  readonly columns: Columns;
  /** The pixels that the account had before the import. */
  readonly pixels: ReadonlySet<string>;
  /** True if a person at a terminal can answer questions. */
  readonly isAttended: boolean;
}

/** Returns the columns and the rules for reading rows. Throws a UserError that names an invalid option. */
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
