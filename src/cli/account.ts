/** bun admin account: accounts, and whether their subscription is active (§3). */
import { Command } from "commander";
import { UserError } from "../operator/user-error.ts";
import type { Account } from "../store/repositories.ts";
import { accountOf, checkText } from "./arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "./command.ts";
import { table } from "./terminal/table.ts";

export function accountCommand(context: CommandContext): Command {
  const account = new Command("account").description("accounts and their subscriptions");
  account.addCommand(
    jsonCommand("create")
      .description("make an account with an active subscription, and print its id")
      .argument("<NAME>", "a name that no other account has")
      .action((name: string, options) => {
        const made = create(context, name);
        outputOf(options).result(view(made), made.id);
      }),
  );
  account.addCommand(
    jsonCommand("list")
      .description("list all accounts")
      .action((options) => {
        const all = context.store().accounts.list().map(view);
        outputOf(options).result(
          all,
          table(
            ["ID", "SUBSCRIPTION", "KEEPS", "NAME"],
            all.map((a) => [
              a.id,
              a.subscription,
              a.retain_days === undefined ? "all" : `${a.retain_days} days`,
              a.name,
            ]),
          ),
        );
      }),
  );
  account.addCommand(subscriptionCommand(context, "activate", true));
  account.addCommand(subscriptionCommand(context, "deactivate", false));
  return account;
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
      const account = accountOf(context.store(), idOrName);
      accounts.setActive(account.number, active);
      const now = view({ ...account, active });
      outputOf(options).result(now, `The subscription of ${now.name} is ${now.subscription}.`);
    });
}

function view({ id, name, active, retainDays }: Account) {
  const kept = retainDays === null ? {} : { retain_days: retainDays };
  return { id, name, subscription: active ? "active" : "inactive", ...kept };
}
