/** bun admin receipt: the receipts of erasures. */
import type { Command } from "commander";
import type { Account } from "../db/accounts.ts";
import { completeReceipts, isAbandoned, listReceipts } from "../privacy/receipts.ts";
import { commandOnAccount } from "./arguments.ts";
import { AdminCommand, type CommandContext } from "./command.ts";
import { printLines } from "./terminal/output.ts";

export function receiptCommand(context: CommandContext): Command {
  return new AdminCommand("receipt").examples("receipt list acme").addCommand(listCommand(context));
}

function listCommand(context: CommandContext): Command {
  return commandOnAccount(context, "list")
    .description("print the receipts of all erasures, oldest first, one JSON object per line; with --json one array")
    .examples("receipt list acme > receipts.ndjson")
    .action(async (account: Account, options: { json?: boolean }) => {
      const database = context.database();
      await completeReceipts(database, isAbandoned(context.now()));
      printLines(listReceipts(database.read, account.number), options.json === true);
    });
}
