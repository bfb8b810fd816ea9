/** bun admin receipt: the receipts of erasures. */
import { Command } from "commander";
import { completeReceipts, isAbandoned, listReceipts } from "../privacy/receipts.ts";
import { accountOf } from "./arguments.ts";
import { type CommandContext, examples, jsonCommand } from "./command.ts";
import { printLines } from "./terminal/output.ts";

export function receiptCommand(context: CommandContext): Command {
  return new Command("receipt").addHelpText("after", examples("receipt list acme")).addCommand(listCommand(context));
}

function listCommand(context: CommandContext): Command {
  return jsonCommand("list")
    .description("print the receipts of all erasures, oldest first, one JSON object per line; with --json one array")
    .argument("<ACCOUNT>", "ID or exact name")
    .addHelpText("after", examples("receipt list acme > receipts.ndjson"))
    .action(async (idOrName: string, options: { json?: boolean }) => {
      const account = accountOf(context, idOrName);
      const database = context.database();
      await completeReceipts(database, isAbandoned(context.now()));
      printLines(listReceipts(database.read, account.number), options.json === true);
    });
}
