/** bun admin key list and check: the keys of an account, and the state of one key, which is read from standard input. */
import { digestOf, isActive, isWellFormed } from "../../contract/key.ts";
import { formatTime } from "../../contract/time.ts";
import { findKeyByDigest, isOfDeletedAccount, type KeyRecord, listKeysOf } from "../../db/keys.ts";
import { requestsOfMonth } from "../../db/usage.ts";
import { gapText, listGaps } from "../../privacy/sent/gaps.ts";
import { adminCommand } from "../../runtime/program-name.ts";
import { commandOnAccount } from "../arguments.ts";
import { type AnyCommand, type CommandContext, jsonCommand } from "../command.ts";
import { grouped } from "../terminal/numbers.ts";
import { readAll } from "../terminal/prompt.ts";
import { table } from "../terminal/table.ts";

export function listCommand(context: CommandContext): AnyCommand {
  return commandOnAccount(context, "list", ["key list acme", "key list acme --json"])
    .description("list the keys of an account")
    .action(({ number }) => {
      const { read } = context.database();
      const all = listKeysOf(read, number).map((key) => viewOf(context, key));
      context.output.result(all, listText(all));
      for (const text of new Set(all.flatMap(({ gaps }) => gaps.map(gapText)))) context.output.say(text);
    });
}

/** The command `key check`. It exits with status 1 if the key is not active, and never prints the key. */
export function checkCommand(context: CommandContext): AnyCommand {
  return jsonCommand("check", ["key check < key.txt", `printf %s "$LEADFILE_KEY" | ${adminCommand} key check`])
    .description("check a key from standard input: it is active, revoked, unknown, or malformed")
    .action(async () => {
      const key = (await readAll(context.standardInput(), "the key")).trim();
      const record = isWellFormed(key) ? findKeyByDigest(context.database().read, digestOf(key)) : null;
      if (record === null) {
        const isOfDeleted = isWellFormed(key) && isOfDeletedAccount(context.database().read, digestOf(key));
        const state = isOfDeleted ? "revoked" : isWellFormed(key) ? "unknown" : "malformed";
        context.output.result({ state }, state);
        return context.setExitStatus(1);
      }
      const state = stateOf(record, context.now());
      const { id, label, account } = record;
      context.output.result({ state, id, label, account }, `${state} (${id} of ${account})`);
      if (state !== "active") context.setExitStatus(1);
    });
}

function stateOf(key: KeyRecord, nowMs: number): "active" | "revoked" {
  return isActive(key, nowMs) ? "active" : "revoked";
}

/** A key as the list shows it: never the key itself. */
export function viewOf(context: CommandContext, record: KeyRecord) {
  const { id, prefix, label, account, createdMs, revokedMs, expiresMs, readUpToMs, lastUsed } = record;
  const nowMs = context.now();
  const { read } = context.database();
  return {
    id,
    prefix,
    label,
    account,
    state: stateOf(record, nowMs),
    created_at: formatTime(createdMs),
    revoked_at: revokedMs === null ? null : formatTime(revokedMs),
    expires_at: expiresMs === null ? null : formatTime(expiresMs),
    last_used: lastUsed,
    read_up_to: readUpToMs === null ? null : formatTime(readUpToMs),
    requests_this_month: requestsOfMonth(read, id, nowMs),
    gaps: listGaps(read, { key: id }, nowMs),
  };
}

function listText(keys: readonly ReturnType<typeof viewOf>[]): string {
  const rows = keys.map((key) => [
    key.id,
    key.prefix,
    key.state,
    key.created_at.slice(0, 10),
    key.expires_at?.slice(0, 10) ?? "never",
    key.last_used ?? "never",
    key.read_up_to?.slice(0, 16).replace("T", " ") ?? "nothing",
    `${grouped(key.requests_this_month)} this month`,
    key.label ?? "",
  ]);
  const header = ["ID", "KEY", "STATE", "CREATED", "EXPIRES", "LAST USED", "READ UP TO", "REQUESTS", "LABEL"];
  return table(header, rows, "The account has no keys.", ["CREATED", "READ UP TO", "REQUESTS"]);
}
