/** bun admin key create and rotate: new API keys (§5). A key is shown once. */
import { dayMs } from "../../contract/calendar.ts";
import { digestOf, createKey as generateKey, isActive, prefixOf } from "../../contract/key.ts";
import { formatTime, parseTime } from "../../contract/time.ts";
import type { Account } from "../../db/accounts.ts";
import { createKey, expireKey, type KeyRecord, revokeKey } from "../../db/keys.ts";
import { adminCommand } from "../../runtime/program-name.ts";
import { UserError } from "../../runtime/user-error.ts";
import { accountOf, checkText, commandOnAccount } from "../arguments.ts";
import { type AnyCommand, type CommandContext, jsonCommand } from "../command.ts";
import { refuseUnseen, showOnce } from "../terminal/output.ts";
import { existingKey } from "./revoke.ts";

/** Throws a UserError before a key is created that nobody would see, or that would expire in the past. */
export function createCommand(context: CommandContext): AnyCommand {
  return commandOnAccount(context, "create", [
    'key create acme --label "nightly export"',
    "key create acme --json > key.json",
  ])
    .description("create a key, and print it once")
    .option("--label <TEXT>", "description of the key")
    .option("--expires <DATE>", "when the key expires: a date such as 2027-01-31 (00:00 UTC), or a full time")
    .action(async (account, options) => {
      const label = options.label === undefined ? null : checkText("--label", options.label);
      const expiresMs = options.expires === undefined ? null : readExpiry(options.expires, context.now());
      await makeKey(context, account, { label, expiresMs }, {});
    });
}

/** The old key ends only after the new one was shown. Throws a UserError if the old key is not active. */
export function rotateCommand(context: CommandContext): AnyCommand {
  return jsonCommand("rotate", ["key rotate key_4hT2wQ", "key rotate key_4hT2wQ --overlap 7d"])
    .description("create a key that replaces another one, print it once, and let the old key expire")
    .argument("<ID>", "ID of the old key, from key list")
    .option("--overlap <TIME>", "how long the old key still works: 30m, 24h, 7d, or 0", "24h")
    .action(async (id, options) => {
      const overlapMs = readOverlap(options.overlap);
      const old = existingKey(context.database().read, id);
      const nowMs = context.now();
      if (!isActive(old, nowMs)) {
        throw new UserError(
          `Key ${old.id} ${old.revokedMs === null ? "has already expired" : "is already revoked"}.`,
          `To create a new one, run: ${adminCommand} key create ${old.account}`,
        );
      }
      const endMs = Math.min(nowMs + overlapMs, old.expiresMs ?? Number.POSITIVE_INFINITY);
      const account = accountOf(context, old.account);
      await makeKey(context, account, old, { replaces: old.id, old_expires_at: formatTime(endMs) });
      // Only now: if the new key had not been shown, the old one would have to stay.
      if (overlapMs > 0) await expireKey(context.database(), old.id, endMs, nowMs);
      // The clock of a server may be behind this one, and would let the old key live on.
      else await revokeKey(context.database(), old.id, nowMs);
      context.output.say(`Key ${old.id} ${overlapMs > 0 ? `expires at ${formatTime(endMs)}` : "is revoked"}.`);
    });
}

/** Creates a key and shows it; throws a UserError if nobody would see it. */
async function makeKey(
  context: CommandContext,
  account: Account,
  { label, expiresMs }: Pick<KeyRecord, "label" | "expiresMs">,
  more: Readonly<Record<string, string>>,
): Promise<void> {
  refuseUnseen("key");
  const key = generateKey();
  const stored = { digest: digestOf(key), prefix: prefixOf(key), label, expiresMs };
  const { id, prefix } = await createKey(context.database(), account, stored, context.now());
  const revoke = `${adminCommand} key revoke ${id}`;
  showOnce(context.output, "key", revoke, { id, key, prefix, label, account: account.id, ...more }, key);
  const until = expiresMs === null ? "" : ` It expires at ${formatTime(expiresMs)}.`;
  context.output.say(`Store it now: it cannot be shown again. Its ID is ${id}.${until}`);
}

const unitsMs = { m: 60_000, h: 3_600_000, d: dayMs } as const;

/** Reads --expires as Unix milliseconds; throws a UserError for a past time, and for anything else. */
function readExpiry(text: string, nowMs: number): number {
  const ms = parseTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text, "down");
  if (ms === null) {
    throw new UserError("--expires takes a date such as 2027-01-31, or a time such as 2027-01-31T09:00:00Z.", "", 2);
  }
  if (ms > nowMs) return ms;
  throw new UserError("--expires is in the past, so the key would never work.", "Give a later date.", 2);
}

/** Reads --overlap as milliseconds; throws a UserError for anything else. */
function readOverlap(text: string): number {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (unit === "m" || unit === "h" || unit === "d") return Number(count) * unitsMs[unit];
  if (text === "0") return 0;
  throw new UserError("--overlap takes minutes, hours, or days, such as 30m, 24h, or 7d; or 0.", "", 2);
}
