/** bun admin key: API keys (§3, §5). A key is never an argument, and is shown once. */
import { Command } from "commander";
import { createKey, digestOf, isWellFormed, prefixOf } from "../contract/key.ts";
import { writeMoment } from "../contract/time.ts";
import { Refusal } from "../refusal.ts";
import type { KeyRecord } from "../store.ts";
import { accountOf, checkText, jsonCommand, outputOf, type Surroundings } from "./command.ts";
import { confirm } from "./confirm.ts";
import { type Output, printable, table } from "./output.ts";
import { readAll } from "./standard-input.ts";

export function keyCommand(around: Surroundings): Command {
  const key = new Command("key").description("API keys");
  key.addCommand(createCommand(around));
  key.addCommand(
    jsonCommand("list")
      .description("list the keys of an account")
      .argument("<ACCOUNT>", "id or exact name")
      .action((idOrName: string, options) => {
        const records = around.store().keys.list(accountOf(around.store(), idOrName).number);
        outputOf(options).result(records.map(view), listText(records));
      }),
  );
  key.addCommand(
    jsonCommand("revoke")
      .description("revoke a key, at once and for ever")
      .argument("<ID>", "id of the key, as key list shows it")
      .option("--yes", "do not ask")
      .action(async (id: string, options: { yes?: boolean; json?: boolean }) => {
        await confirm(`Revoke the key ${printable(id)} for ever?`, options);
        const record = around.store().keys.revoke(id, around.now());
        if (record === null) {
          throw new Refusal(
            "No key has this id.",
            "bun admin key list ACCOUNT shows the ids; the key itself is no id.",
          );
        }
        outputOf(options).result(view(record), `Key ${record.id} is revoked; the next request with it gets 401.`);
      }),
  );
  key.addCommand(
    jsonCommand("check")
      .description("read a key from standard input and say whether it is active, revoked, unknown or malformed")
      .action((options) => check(around, options)),
  );
  return key;
}

function createCommand(around: Surroundings): Command {
  return jsonCommand("create")
    .description("make a key and print it, this once")
    .argument("<ACCOUNT>", "id or exact name")
    .option("--label <TEXT>", "what it is for")
    .action((idOrName: string, options: { label?: string; json?: boolean }) => {
      const account = accountOf(around.store(), idOrName);
      const label = options.label === undefined ? null : checkText("--label", options.label);
      const key = createKey();
      const stored = { digest: digestOf(key), prefix: prefixOf(key), label };
      const { id, prefix } = around.store().keys.create(account.number, stored, around.now());
      const output = outputOf(options);
      show(output, id, () => output.result({ id, key, prefix, label, account: account.id }, key));
      output.say(`Keep it now: it cannot be shown again. Its id is ${id}.`);
    });
}

/** A key that could not be shown is lost, and must not stay behind. */
function show(output: Output, id: string, print: () => boolean): void {
  const advice = `Revoke it, bun admin key revoke ${id}, and make a new one.`;
  try {
    if (print()) return;
  } catch (cause) {
    output.say(cause instanceof Refusal ? cause.sentence : "");
  }
  throw new Refusal("The key was made but could not be shown.", advice);
}

async function check(around: Surroundings, options: { json?: boolean }): Promise<void> {
  const key = (await readAll(around.standardInput())).trim();
  const record = isWellFormed(key) ? around.store().keys.findByDigest(digestOf(key)) : null;
  const state = record === null ? (isWellFormed(key) ? "unknown" : "malformed") : stateOf(record);
  const known = record === null ? {} : { id: record.id, label: record.label, account: record.account };
  outputOf(options).result(
    { state, ...known },
    record === null ? state : `${state} (${record.id} of ${record.account})`,
  );
  if (state !== "active") around.endWith(1);
}

function stateOf(record: KeyRecord): "active" | "revoked" {
  return record.revokedMs === null ? "active" : "revoked";
}

function view(record: KeyRecord) {
  const { id, prefix, label, account, createdMs, revokedMs, lastUsed } = record;
  return {
    id,
    prefix,
    label,
    account,
    state: stateOf(record),
    created_at: writeMoment(createdMs),
    revoked_at: revokedMs === null ? null : writeMoment(revokedMs),
    last_used: lastUsed,
  };
}

function listText(records: readonly KeyRecord[]): string {
  const rows = records.map((record) => [
    record.id,
    record.prefix,
    stateOf(record),
    writeMoment(record.createdMs).slice(0, 10),
    record.lastUsed ?? "never",
    record.label ?? "",
  ]);
  return table(["ID", "KEY", "STATE", "MADE", "LAST USED", "LABEL"], rows);
}
