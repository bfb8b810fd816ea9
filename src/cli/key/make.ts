/** How a key is made: it is printed once, and one that nobody could see is not made. */
import type { Command } from "commander";
import { dayMs } from "../../contract/calendar.ts";
import { digestOf } from "../../contract/key.ts";
import { createKey, prefixOf } from "../../contract/new-key.ts";
import { readMoment, writeMoment } from "../../contract/time.ts";
import { adminCommand } from "../../program-name.ts";
import type { Account, KeyRecord } from "../../store/repositories.ts";
import { UserError } from "../../user-error.ts";
import { accountOf, checkText } from "../arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "../command.ts";
import { type Output, refuseUnseen, showOnce } from "../terminal/output.ts";
import { noSuchKey, stateOf } from "./view.ts";

/** key create: makes a key, and prints it this once. */
export function createCommand(context: CommandContext): Command {
  return jsonCommand("create")
    .description("make a key, and print it this one time")
    .argument("<ACCOUNT>", "id or exact name")
    .option("--label <TEXT>", "what it is for")
    .option("--expires <DATE>", "when the key ends: a date such as 2027-01-31 (00:00 UTC), or a full time")
    .action((idOrName: string, options: { label?: string; expires?: string; json?: boolean }) => {
      const account = accountOf(context, idOrName);
      const label = options.label === undefined ? null : checkText("--label", options.label);
      const expiresMs = options.expires === undefined ? null : readExpiry(options.expires, context.now());
      makeKey(context, outputOf(options), account, { label, expiresMs }, {});
    });
}

/** key rotate: makes a key like another one, which goes on for a while. */
export function rotateCommand(context: CommandContext): Command {
  return jsonCommand("rotate")
    .description("make a key in place of another one, and print it this one time; the old key ends later")
    .argument("<ID>", "id of the old key, as key list shows it")
    .option("--overlap <TIME>", "how long the old key still works: 30m, 24h, 7d or 0", "24h")
    .action((id: string, options: { overlap: string; json?: boolean }) => {
      const overlapMs = readOverlap(options.overlap);
      const { keys } = context.store();
      const old = keys.find(id);
      if (old === null) throw noSuchKey();
      const nowMs = context.now();
      if (stateOf(old, nowMs) === "revoked") {
        throw new UserError(
          `Key ${old.id} is revoked already.`,
          `Make a new one: ${adminCommand} key create ${old.account}.`,
        );
      }
      const endMs = Math.min(nowMs + overlapMs, old.expiresMs ?? Number.POSITIVE_INFINITY);
      const account = accountOf(context, old.account);
      const output = outputOf(options);
      makeKey(context, output, account, old, { replaces: old.id, old_expires_at: writeMoment(endMs) });
      // Only now: had the new key not been shown, the old one must go on.
      if (overlapMs > 0) keys.expire(old.id, endMs, nowMs);
      // The clock of a server may be behind this one, and would let it live on.
      else keys.revoke(old.id, nowMs);
      output.say(`Key ${old.id} ${overlapMs > 0 ? `expires at ${writeMoment(endMs)}` : "is revoked"}.`);
    });
}

/** Makes a key and shows it; throws a UserError where nobody would see it. */
function makeKey(
  context: CommandContext,
  output: Output,
  account: Account,
  { label, expiresMs }: Pick<KeyRecord, "label" | "expiresMs">,
  more: Readonly<Record<string, string>>,
): void {
  refuseUnseen("the key");
  const key = createKey();
  const stored = { digest: digestOf(key), prefix: prefixOf(key), label, expiresMs };
  const { id, prefix } = context.store().keys.create(account.number, stored, context.now());
  const revoke = `${adminCommand} key revoke ${id}`;
  showOnce(output, "The key", revoke, { id, key, prefix, label, account: account.id, ...more }, key);
  const until = expiresMs === null ? "" : ` It expires at ${writeMoment(expiresMs)}.`;
  output.say(`Keep it now: it cannot be shown again. Its id is ${id}.${until}`);
}

const unitsMs = { m: 60_000, h: 3_600_000, d: dayMs } as const;

/** The moment of --expires in Unix milliseconds; throws a UserError for one that is past, and for what is none. */
function readExpiry(text: string, nowMs: number): number {
  const ms = readMoment(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text, "down");
  if (ms === null) {
    throw new UserError("--expires takes a date such as 2027-01-31, or a time such as 2027-01-31T09:00:00Z.", "", 2);
  }
  if (ms > nowMs) return ms;
  throw new UserError("--expires lies in the past, and the key would never work.", "Give a date to come.", 2);
}

/** The time of --overlap in milliseconds; throws a UserError for what is none. */
function readOverlap(text: string): number {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (unit === "m" || unit === "h" || unit === "d") return Number(count) * unitsMs[unit];
  if (text === "0") return 0;
  throw new UserError("--overlap takes minutes, hours or days, such as 30m, 24h or 7d, or 0.", "", 2);
}
