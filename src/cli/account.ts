/** bun admin account: accounts, and whether their subscription is active (§3). */

import { Command } from "commander";
import { readDatabasePath } from "../config.ts";
import type { Account } from "../store/repositories.ts";
import { UserError } from "../user-error.ts";
import { accountOf, checkText, noAccounts } from "./arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "./command.ts";
import { daysText } from "./terminal/numbers.ts";
import { listed } from "./terminal/table.ts";

export function accountCommand(context: CommandContext): Command {
  return new Command("account")
    .description("accounts and their subscriptions")
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(subscriptionCommand(context, "activate", true))
    .addCommand(subscriptionCommand(context, "deactivate", false));
}

function createCommand(context: CommandContext): Command {
  return jsonCommand("create")
    .description("make an account with an active subscription, and print its id")
    .argument("<NAME>", "a name that no other account has")
    .action((name: string, options) => {
      const made = create(context, name);
      outputOf(options).result(view(made), made.id);
    });
}

function listCommand(context: CommandContext): Command {
  return jsonCommand("list")
    .description("list all accounts")
    .action((options) => {
      const all = context.store().accounts.list().map(view);
      const rows = all.map(({ id, subscription, retain_days: days, name }) => [
        id,
        subscription,
        days === undefined ? "all" : daysText(days),
        name,
      ]);
      outputOf(options).result(
        all,
        listed(noAccounts(readDatabasePath()), ["ID", "SUBSCRIPTION", "KEEPS", "NAME"], rows),
      );
    });
}

function create(context: CommandContext, text: string): Account {
  const name = checkText("NAME", text);
  if (/^acc_/i.test(name))
    throw new UserError("NAME begins with acc_, as an id does.", "Choose a name that does not.", 2);
  const made = context.store().accounts.create(name, context.now());
  if (made !== null) return made;
  throw new UserError(`An account has the name ${JSON.stringify(name)} already.`, "Choose another name.");
}

function subscriptionCommand(context: CommandContext, verb: string, active: boolean): Command {
  return jsonCommand(verb)
    .description(`switch the subscription ${active ? "on" : "off"}; holds from the next request`)
    .argument("<ACCOUNT>", "id or exact name")
    .action((idOrName: string, options) => {
      const { accounts } = context.store();
      const account = accountOf(context, idOrName);
      accounts.setActive(account.number, active, context.now());
      const now = view({ ...account, active });
      outputOf(options).result(now, `The subscription of ${now.name} is ${now.subscription}.`);
    });
}

function view({ id, name, active, retainDays }: Account) {
  const kept = retainDays === null ? {} : { retain_days: retainDays };
  return { id, name, subscription: active ? "active" : "inactive", ...kept };
}
