/** bun admin account: accounts, and whether their subscription is active (§3). */
import { existsSync } from "node:fs";
import { Command } from "commander";
import { readDatabasePath } from "../config.ts";
import { type Account, createAccount, listAccounts, setSubscription } from "../db/accounts.ts";
import { UserError } from "../user-error.ts";
import { accountOf, checkText, noAccounts, noDatabase } from "./arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "./command.ts";
import { daysText } from "./terminal/numbers.ts";
import { listed } from "./terminal/table.ts";

export function accountCommand(context: CommandContext): Command {
  return new Command("account")
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(subscriptionCommand(context, "activate", true))
    .addCommand(subscriptionCommand(context, "deactivate", false));
}

function createCommand(context: CommandContext): Command {
  return jsonCommand("create")
    .description("create an account with an active subscription, and print its ID")
    .argument("<NAME>", "a name that no other account has")
    .action(async (text: string, options) => {
      const name = checkText("NAME", text);
      if (/^acc_/i.test(name)) {
        throw new UserError("NAME begins with acc_, as an ID does.", "Choose a name that does not.", 2);
      }
      const created = await createAccount(context.database("create"), name, context.now());
      if (created === null) {
        throw new UserError(`There is already an account ${JSON.stringify(name)}.`, "Choose another name.");
      }
      outputOf(options).result(view(created), created.id);
    });
}

function listCommand(context: CommandContext): Command {
  return jsonCommand("list")
    .description("list all accounts")
    .action((options) => {
      const path = readDatabasePath();
      // A script may ask before anything was set up.
      if (!existsSync(path)) return void outputOf(options).result([], noDatabase(path).sentence);
      const all = listAccounts(context.database().read).map(view);
      const rows = all.map(({ id, subscription, retain_days: days, name }) => [
        id,
        subscription,
        days === undefined ? "all" : daysText(days),
        name,
      ]);
      const text = listed(noAccounts(path), ["ID", "SUBSCRIPTION", "KEEPS", "NAME"], rows);
      outputOf(options).result(all, text);
    });
}

function subscriptionCommand(context: CommandContext, verb: string, active: boolean): Command {
  return jsonCommand(verb)
    .description(`turn the subscription ${active ? "on" : "off"}, from the next request on`)
    .argument("<ACCOUNT>", "ID or exact name")
    .action(async (idOrName: string, options) => {
      const account = accountOf(context, idOrName);
      await setSubscription(context.database(), account, active, context.now());
      const now = view({ ...account, active });
      outputOf(options).result(now, `The subscription of ${now.name} is ${now.subscription}.`);
    });
}

function view({ id, name, active, retainDays }: Account) {
  const kept = retainDays === null ? {} : { retain_days: retainDays };
  return { id, name, subscription: active ? "active" : "inactive", ...kept };
}
