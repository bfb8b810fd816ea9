/** bun admin receipt: the receipts of erasures. */
import type { Command } from "commander";
import { findDeletion } from "../privacy/delete-account.ts";
import { listReceipts } from "../privacy/receipts.ts";
import { accountOf } from "./arguments.ts";
import { AdminCommand, type CommandContext, jsonCommand } from "./command.ts";
import { printLines } from "./terminal/output.ts";

export function receiptCommand(context: CommandContext): Command {
  const list = jsonCommand("list")
    .argument("<ACCOUNT>", "ID or exact name; for a deleted account, its ID")
    .description("print the receipts of all erasures, oldest first, one JSON object per line; with --json one array")
    .examples("receipt list acme > receipts.ndjson")
    .action((idOrName: string, options: { json?: boolean }) => {
      const database = context.database();
      const deletion = findDeletion(database.read, idOrName);
      if (deletion !== null) return void printLines([JSON.stringify(deletion)], options.json === true);
      const account = accountOf(context, idOrName);
      printLines(listReceipts(database, account.number), options.json === true);
    });
  return new AdminCommand("receipt").examples("receipt list acme").addCommand(list);
}
