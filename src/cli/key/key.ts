/** bun admin key: API keys (§3, §5). A key is never an argument, and is shown once. */
import { Command } from "commander";
import { digestOf, isWellFormed } from "../../contract/key.ts";
import { printable } from "../../operator/printable.ts";
import { accountOf } from "../arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "../command.ts";
import { confirm } from "../terminal/confirm.ts";
import { readAll } from "../terminal/standard-input.ts";
import { createCommand, rotateCommand } from "./make.ts";
import { listText, noSuchKey, stateOf, view } from "./view.ts";

export function keyCommand(context: CommandContext): Command {
  return new Command("key")
    .description("API keys")
    .addCommand(createCommand(context))
    .addCommand(rotateCommand(context))
    .addCommand(listCommand(context))
    .addCommand(revokeCommand(context))
    .addCommand(checkCommand(context));
}

function listCommand(context: CommandContext): Command {
  return jsonCommand("list")
    .description("list the keys of an account")
    .argument("<ACCOUNT>", "id or exact name")
    .action((idOrName: string, options) => {
      const { keys } = context.store();
      const { number } = accountOf(context, idOrName);
      const nowMs = context.now();
      const all = keys.list(number).map((record) => view(record, nowMs, keys.requestsOfMonth(record.id, nowMs)));
      outputOf(options).result(all, listText(all));
    });
}

function revokeCommand(context: CommandContext): Command {
  return jsonCommand("revoke")
    .description("revoke a key, at once and for ever")
    .argument("<ID>", "id of the key, as key list shows it")
    .option("--yes", "do not ask")
    .action(async (id: string, options: { yes?: boolean; json?: boolean }) => {
      await confirm(`Revoke the key ${printable(id)} for ever?`, options);
      const { keys } = context.store();
      const nowMs = context.now();
      const record = keys.revoke(id, nowMs);
      if (record === null) throw noSuchKey();
      outputOf(options).result(
        view(record, nowMs, keys.requestsOfMonth(id, nowMs)),
        `Key ${record.id} is revoked; the next request with it gets 401.`,
      );
    });
}

function checkCommand(context: CommandContext): Command {
  return jsonCommand("check")
    .description("read a key from standard input and say whether it is active, revoked, unknown or malformed")
    .action(async (options: { json?: boolean }) => {
      const key = (await readAll(context.standardInput(), "the key")).trim();
      const record = isWellFormed(key) ? context.store().keys.findByDigest(digestOf(key)) : null;
      if (record === null) {
        const state = isWellFormed(key) ? "unknown" : "malformed";
        outputOf(options).result({ state }, state);
        return context.endWith(1);
      }
      const state = stateOf(record, context.now());
      const { id, label, account } = record;
      outputOf(options).result({ state, id, label, account }, `${state} (${id} of ${account})`);
      if (state !== "active") context.endWith(1);
    });
}
