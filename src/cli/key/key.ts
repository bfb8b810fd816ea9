/** bun admin key: API keys (§3, §5). A key is never an argument, and is shown once. */
import { Command } from "commander";
import { createKey, digestOf, isWellFormed, prefixOf } from "../../contract/key.ts";
import { writeMoment } from "../../contract/time.ts";
import { printable } from "../../operator/printable.ts";
import { adminCommand } from "../../operator/program-name.ts";
import { UserError } from "../../operator/user-error.ts";
import type { Account, KeyRecord } from "../../store/repositories.ts";
import { accountOf, type CommandContext, checkText, jsonCommand, outputOf } from "../command.ts";
import { confirm } from "../terminal/confirm.ts";
import { leadsNowhere, type Output } from "../terminal/output.ts";
import { readAll } from "../terminal/standard-input.ts";
import { readExpiry, readOverlap } from "./times.ts";
import { listText, stateOf, view } from "./view.ts";

export function keyCommand(context: CommandContext): Command {
  const key = new Command("key").description("API keys");
  key.addCommand(createCommand(context));
  key.addCommand(rotateCommand(context));
  key.addCommand(
    jsonCommand("list")
      .description("list the keys of an account")
      .argument("<ACCOUNT>", "id or exact name")
      .action((idOrName: string, options) => {
        const { number } = accountOf(context.store(), idOrName);
        const requests = context.store().keys.requestsOfMonth(number, context.now());
        const all = context
          .store()
          .keys.list(number)
          .map((record) => view(record, context.now(), requests.get(record.id) ?? 0));
        outputOf(options).result(all, listText(all));
      }),
  );
  key.addCommand(
    jsonCommand("revoke")
      .description("revoke a key, at once and for ever")
      .argument("<ID>", "id of the key, as key list shows it")
      .option("--yes", "do not ask")
      .action(async (id: string, options: { yes?: boolean; json?: boolean }) => {
        await confirm(`Revoke the key ${printable(id)} for ever?`, options);
        const record = context.store().keys.revoke(id, context.now());
        if (record === null) refuseUnknown();
        const { number } = accountOf(context.store(), record.account);
        const requests = context.store().keys.requestsOfMonth(number, context.now()).get(record.id) ?? 0;
        outputOf(options).result(
          view(record, context.now(), requests),
          `Key ${record.id} is revoked; the next request with it gets 401.`,
        );
      }),
  );
  key.addCommand(
    jsonCommand("check")
      .description("read a key from standard input and say whether it is active, revoked, unknown or malformed")
      .action((options) => check(context, options)),
  );
  return key;
}

function createCommand(context: CommandContext): Command {
  return jsonCommand("create")
    .description("make a key and print it, this once")
    .argument("<ACCOUNT>", "id or exact name")
    .option("--label <TEXT>", "what it is for")
    .option("--expires <DATE>", "revoke it by itself from then on: 2027-01-31 (its first moment in UTC) or a full time")
    .action((idOrName: string, options: { label?: string; expires?: string; json?: boolean }) => {
      const account = accountOf(context.store(), idOrName);
      const label = options.label === undefined ? null : checkText("--label", options.label);
      const expiresMs = options.expires === undefined ? null : readExpiry(options.expires, context.now());
      makeKey(context, outputOf(options), account, { label, expiresMs }, {});
    });
}

function rotateCommand(context: CommandContext): Command {
  return jsonCommand("rotate")
    .description("make a new key like this one and print it, this once; the old one is revoked by itself later")
    .argument("<ID>", "id of the old key, as key list shows it")
    .option("--overlap <TIME>", "how long the old one holds: 30m, 24h, 7d, or 0 for no longer", "24h")
    .action((id: string, options: { overlap: string; json?: boolean }) => {
      const overlapMs = readOverlap(options.overlap);
      const { keys } = context.store();
      const old = keys.find(id) ?? refuseUnknown();
      const nowMs = context.now();
      if (stateOf(old, nowMs) === "revoked") {
        throw new UserError(
          `Key ${old.id} is revoked already.`,
          `Make a new one: ${adminCommand} key create ${old.account}.`,
        );
      }
      const endMs = Math.min(nowMs + overlapMs, old.expiresMs ?? Number.POSITIVE_INFINITY);
      const account = accountOf(context.store(), old.account);
      const output = outputOf(options);
      makeKey(context, output, account, old, { replaces: old.id, old_expires_at: writeMoment(endMs) });
      // Only now: had the new key not been shown, the old one must go on.
      keys.expire(old.id, endMs, nowMs);
      output.say(`Key ${old.id} is revoked by itself at ${writeMoment(endMs)}.`);
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
  if (leadsNowhere()) {
    throw new UserError("Nobody would see the key: standard output leads nowhere.", "Send it to a terminal or a file.");
  }
  const key = createKey();
  const stored = { digest: digestOf(key), prefix: prefixOf(key), label, expiresMs };
  const { id, prefix } = context.store().keys.create(account.number, stored, context.now());
  show(output, id, () => output.result({ id, key, prefix, label, account: account.id, ...more }, key));
  const until = expiresMs === null ? "" : ` It is revoked by itself at ${writeMoment(expiresMs)}.`;
  output.say(`Keep it now: it cannot be shown again. Its id is ${id}.${until}`);
}

/** A key that could not be shown is lost, and must not stay behind. */
function show(output: Output, id: string, print: () => boolean): void {
  const advice = `Revoke it, ${adminCommand} key revoke ${id}, and make a new one.`;
  try {
    if (print()) return;
  } catch (cause) {
    output.say(cause instanceof UserError ? cause.sentence : "");
  }
  throw new UserError("The key was made but could not be shown.", advice);
}

async function check(context: CommandContext, options: { json?: boolean }): Promise<void> {
  const key = (await readAll(context.standardInput())).trim();
  const record = isWellFormed(key) ? context.store().keys.findByDigest(digestOf(key)) : null;
  const state = record === null ? (isWellFormed(key) ? "unknown" : "malformed") : stateOf(record, context.now());
  const known = record === null ? {} : { id: record.id, label: record.label, account: record.account };
  outputOf(options).result(
    { state, ...known },
    record === null ? state : `${state} (${record.id} of ${record.account})`,
  );
  if (state !== "active") context.endWith(1);
}

function refuseUnknown(): never {
  throw new UserError(
    "No key has this id.",
    `${adminCommand} key list ACCOUNT shows the ids; the key itself is no id.`,
  );
}
