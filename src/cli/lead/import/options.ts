/** The options of an import, read and checked before anything is touched. */

import { resolve } from "node:path";
import { readDatabasePath } from "../../../config.ts";
import type { Account } from "../../../db/accounts.ts";
import { filesOf, lockRequestsOf, raftLogOf, serverLockOf } from "../../../db/database-files.ts";
import { openPixelReader } from "../../../db/pixels.ts";
import { type IdentityField, wholeIdentity } from "../../../import/map/identity.ts";
import type { LeadRules } from "../../../import/map/lead.ts";
import type { DateOrder } from "../../../import/map/values/times.ts";
import { isZone } from "../../../import/map/values/zones.ts";
import { DateOrders } from "../../../import/map/visit-time.ts";
import { type ImportMode, isUnattended } from "../../../import/new-lead.ts";
import { writablePath } from "../../../import/parse/rejects.ts";
import { adminCommand } from "../../../runtime/program-name.ts";
import { UserError } from "../../../runtime/user-error.ts";
import { checkPixelId } from "../../arguments.ts";
import type { AdminCommand, CommandContext } from "../../command.ts";

/** The options of an import, as typed, or as the settings of an inbox or a source. */
export interface ImportRequest {
  readonly map?: string;
  /** The name of a vendor's profile, or none. */
  readonly vendor?: string;
  /** True if the command must not ask questions. */
  readonly yes?: boolean;
  readonly pixel?: string;
  readonly createPixels?: boolean;
  readonly rejects?: string | undefined;
  /** The final folder of the rejected rows, if it is another one. */
  readonly rejectsKept?: string;
  readonly identity?: string;
  readonly onDuplicate: "skip" | "replace";
  readonly stamp: "source" | "arrival";
  /** By default, a person typed the command. */
  readonly mode?: ImportMode;
  readonly timezone: string;
  readonly dayFirst?: boolean;
  readonly monthFirst?: boolean;
  readonly dryRun?: boolean;
}

/** Adds the options that say how times are read. */
export function withTimeOptions(command: AdminCommand): AdminCommand {
  return command
    .option("--timezone <ZONE>", "the time zone of times without an offset, such as America/New_York", "UTC")
    .option("--day-first", "read 01/02/2026 as February 1")
    .option("--month-first", "read 01/02/2026 as January 2");
}

/** Returns the rules for reading rows. Throws a UserError that names the option that is wrong. */
export function readRules(account: string, options: ImportRequest): LeadRules {
  if (!isZone(options.timezone)) {
    throw new UserError(
      `--timezone is ${JSON.stringify(options.timezone)}, which is not an IANA time zone.`,
      "Pass a name such as America/New_York or UTC.",
      2,
    );
  }
  return {
    account,
    pixelId: options.pixel === undefined ? null : checkPixelId("--pixel", options.pixel),
    identity: options.identity === undefined ? wholeIdentity : readIdentity(options.identity),
    stamp: options.stamp,
    mode: options.mode ?? "command",
    zone: options.timezone,
    orders: new DateOrders(orderOf(options)),
  };
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

/** Throws a UserError if --pixel names a pixel that the account does not have and that is not to be created. */
export function checkPixel(context: CommandContext, account: Account, { pixel, createPixels }: ImportRequest): void {
  if (pixel === undefined || createPixels === true) return;
  if (openPixelReader(context.database().read).has(account.number, pixel.trim())) return;
  throw new UserError(
    `The account has no pixel ${JSON.stringify(pixel)}.`,
    `Pass --create-pixels (in import.json, "create-pixels": true), or create it: ${adminCommand} pixel create ACCOUNT --id ID`,
  );
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
