/** bun admin key revoke: ends an API key, at once and for good (§3). */
import { isWellFormed } from "../../contract/key.ts";
import type { Connection } from "../../db/connection.ts";
import { findKey, type KeyRecord, revokeKey } from "../../db/keys.ts";
import { adminCommand } from "../../runtime/program-name.ts";
import { UserError } from "../../runtime/user-error.ts";
import { type AnyCommand, type CommandContext, jsonCommand } from "../command.ts";
import { confirm } from "../terminal/prompt.ts";

/** The command `key revoke`. It asks on a terminal, and may be repeated. It throws a UserError if there is no such key. */
export function revokeCommand(context: CommandContext): AnyCommand {
  return jsonCommand("revoke", ["key revoke key_4hT2wQ", "key revoke key_4hT2wQ --yes"])
    .description("revoke a key immediately and permanently")
    .argument("<ID>", "ID of the key, from key list")
    .option("--yes", "do not ask for confirmation")
    .action(async (id, options) => {
      const key = existingKey(context.database().read, id);
      const label = key.label === null ? "" : `${JSON.stringify(key.label)}, `;
      const used = key.lastUsed === null ? "never used" : `last used ${key.lastUsed}`;
      const question = `Revoke ${key.id} (${label}account ${key.accountName}, ${used})? This cannot be undone.`;
      await confirm(question, options);
      const revoked = (await revokeKey(context.database(), key.id, context.now())) ?? key;
      // What the JSON shows of usage and of the ledger, a revocation need not load.
      const value = context.output.json ? (await import("./show.ts")).viewOf(context, revoked) : null;
      context.output.result(value, `Key ${revoked.id} is revoked. The next request with it gets 401.`);
    });
}

/** Finds a key by its ID; throws a UserError if there is none. */
export function existingKey(read: Connection, id: string): KeyRecord {
  const key = findKey(read, id);
  if (key !== null) return key;
  // The argument may be the key itself, which must not be repeated.
  const what = isWellFormed(id) ? "This is a key, not the ID of a key." : `There is no key ${JSON.stringify(id)}.`;
  throw new UserError(what, `To list the IDs, run: ${adminCommand} key list ACCOUNT`);
}
