/** bun admin account: accounts, and whether their subscription is active (§3). */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readDatabasePath } from "../config.ts";
import { type Account, createAccount, listAccounts, setSubscription } from "../db/accounts.ts";
import { isFileOfNode, spoolOf } from "../db/database-files.ts";
import { innermost, noDatabase } from "../db/failure.ts";
import { listSources, type Source } from "../db/sources.ts";
import { deleteAccount, findDeletion } from "../privacy/delete-account.ts";
import { countLeads } from "../privacy/find.ts";
import { UserError } from "../runtime/user-error.ts";
import { checkText, commandOnAccount, noAccounts } from "./arguments.ts";
import { AdminCommand, type AnyCommand, type CommandContext, jsonCommand } from "./command.ts";
import { removeResidualBytes, sayCopies } from "./residual-data.ts";
import { daysText, grouped, leadsText } from "./terminal/numbers.ts";
import { runWithProgress } from "./terminal/progress.ts";
import { ask, canAsk } from "./terminal/prompt.ts";
import { table } from "./terminal/table.ts";

export function accountCommand(context: CommandContext): AnyCommand {
  return new AdminCommand("account", ["account create acme", "account list", "account deactivate acme"])
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(subscriptionCommand(context, "activate", true))
    .addCommand(subscriptionCommand(context, "deactivate", false))
    .addCommand(deleteCommand(context));
}

function createCommand(context: CommandContext): AnyCommand {
  return jsonCommand("create", ["account create acme", 'account create "Harbor & Pine" --json'])
    .description("create an account with an active subscription, and print its ID")
    .argument("<NAME>", "a name that no other account has")
    .action(async (text) => {
      const name = checkText("NAME", text);
      if (/^acc_/i.test(name)) {
        throw new UserError("NAME begins with acc_, like an ID.", "Choose another name.", 2);
      }
      const created = await createAccount(context.database("create"), name, context.now());
      if (created === null) {
        throw new UserError(`The account ${JSON.stringify(name)} already exists.`, "Choose another name.");
      }
      context.output.result(view(created), created.id);
    });
}

function listCommand(context: CommandContext): AnyCommand {
  return jsonCommand("list", ["account list", "account list --json"])
    .description("list all accounts")
    .action(() => {
      const path = readDatabasePath();
      // A script may ask before anything was set up.
      if (isMissing(path)) return void context.output.result([], noDatabase(path).sentence);
      const all = listAccounts(context.database().read).map(view);
      const rows = all.map(({ id, subscription, retain_days: days, name }) => [
        id,
        subscription,
        days === undefined ? "all" : daysText(days),
        name,
      ]);
      const text = table(["ID", "SUBSCRIPTION", "KEEPS", "NAME"], rows, noAccounts(path));
      context.output.result(all, text);
    });
}

/** Returns whether there is no file. Throws a UserError if this user cannot know. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    throw noDatabase(path);
  }
}

function subscriptionCommand(context: CommandContext, verb: string, active: boolean): AnyCommand {
  return commandOnAccount(context, verb, [`account ${verb} acme`])
    .description(`${verb} the subscription, effective with the next request`)
    .action(async (account) => {
      await setSubscription(context.database(), account, active, context.now());
      const now = view({ ...account, active });
      context.output.result(now, `The subscription of ${now.name} is ${now.subscription}.`);
    });
}

function deleteCommand(context: CommandContext): AnyCommand {
  return commandOnAccount(context, "delete", ["account delete acme", "account delete acme --yes --json"])
    .description("delete an account with all its data, and revoke its keys permanently")
    .option("--yes", "do not ask for confirmation")
    .action(async (account, options) => {
      const { id, name } = account;
      const database = context.database();
      const leads = countLeads(database.read, account.number);
      if (options.yes !== true) await confirmName(name, `${JSON.stringify(name)} and its ${leadsText(leads)}`);
      const sources = listSources(database.read, account.number);
      const steps = deleteAccount(database, account, context.now());
      const stopped = (done: number) =>
        `Stopped: ${grouped(done)} of ${leadsText(leads)} are deleted, and the keys are revoked.`;
      const done = await runWithProgress("Deleting", leads, context.output, steps, stopped);
      const receipt = findDeletion(database.read, id);
      context.output.result({ id, name, leads: receipt?.leads ?? done }, JSON.stringify(receipt));
      context.output.say(`Account ${name} is deleted. Requests with its keys get revoked_api_key.`);
      removeDeliveries(spoolOf(database.path), sources);
      await removeResidualBytes(context, leads > 0);
      await sayCopies(context, null);
      const onNodes = isFileOfNode(database.path) ? "pending deliveries on other nodes, " : "";
      context.output.say(`Not deleted: ${onNodes}exports, rejects files, files in inboxes, logs, and earlier backups.`);
    });
}

/** Deletes what vendors have delivered to an account that is deleted. */
function removeDeliveries(spool: string, sources: readonly Source[]): void {
  for (const { id } of sources) {
    const folder = join(spool, id);
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (cause) {
      throw new UserError(
        `The account is deleted, but its pending deliveries are not (${innermost(cause)}).`,
        `Delete ${folder}.`,
      );
    }
  }
}

/** Asks for the name of the account on a terminal. Throws a UserError if the answer differs, or if there is no terminal. */
async function confirmName(name: string, what: string): Promise<void> {
  if (!canAsk())
    throw new UserError(`Nothing was changed. This deletes ${what} permanently.`, "To confirm, pass --yes.");
  if ((await ask(`This deletes ${what} permanently. To confirm, type the name of the account:`)) === name) return;
  throw new UserError("Nothing was changed.", "To delete the account, type its exact name.");
}

function view({ id, name, active, retainDays }: Account) {
  const kept = retainDays === null ? {} : { retain_days: retainDays };
  return { id, name, subscription: active ? "active" : "inactive", ...kept };
}
