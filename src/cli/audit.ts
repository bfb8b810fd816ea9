/** bun admin audit and receipt: the audit log and the receipts of erasures, neither of which has personal data. */
import { formatTime } from "../contract/time.ts";
import { listActs } from "../db/audit.ts";
import { findDeletion } from "../privacy/delete-account.ts";
import { listReceipts } from "../privacy/receipts.ts";
import { accountIn, accountOf, wholeNumber } from "./arguments.ts";
import { AdminCommand, type AnyCommand, type CommandContext, jsonCommand } from "./command.ts";
import { printLines } from "./terminal/output.ts";
import { table } from "./terminal/table.ts";

export function auditCommand(context: CommandContext): AnyCommand {
  return new AdminCommand("audit", ["audit list"]).addCommand(
    jsonCommand("list", ["audit list --limit 20", "audit list --account acme --json"])
      .description(
        "list the audit log, newest first: find, erase, unblock, export, retain, backup, restore, and changes of keys and accounts",
      )
      .option("--account <ACCOUNT>", "list only entries of this account (ID or exact name)", accountIn(context))
      .option("--limit <N>", "the maximum number of entries", wholeNumber("--limit", 1, 100_000), 100)
      .action(({ account, limit }) => {
        const found = listActs(context.database().read, limit, account?.id ?? null);
        const acts = found.map(({ atMs, ...act }) => ({ at: formatTime(atMs), ...act }));
        const rows = acts.map(({ at, act, account, detail }) => [
          at.slice(0, 19).replace("T", " "),
          act,
          account ?? "",
          detailText(act, detail),
        ]);
        context.output.result(acts, table(["AT", "ACT", "ACCOUNT", "DETAIL"], rows, "The audit log is empty."));
      }),
  );
}

/** Fits 80 columns: the ID of what the act is about has no name in front of it. */
function detailText(act: string, detail: Readonly<Record<string, string | number | null>>): string {
  return Object.entries(detail)
    .map(([name, value]) => {
      const isOwnId = typeof value === "string" && act.startsWith(`${name}.`);
      return isOwnId ? value : `${name.replaceAll("_", " ")} ${value ?? "none"}`;
    })
    .join(", ");
}

/** The command `receipt list`. Receipts of a deleted account are found by its ID. */
export function receiptCommand(context: CommandContext): AnyCommand {
  const list = jsonCommand("list", ["receipt list acme > receipts.ndjson"])
    .argument("<ACCOUNT>", "ID or exact name; for a deleted account, its ID")
    .description("print the receipts of all erasures, oldest first, one JSON object per line; with --json one array")
    .action((idOrName) => {
      const database = context.database();
      const deletion = findDeletion(database.read, idOrName);
      const receipts =
        deletion === null ? listReceipts(database, accountOf(context, idOrName).number) : [JSON.stringify(deletion)];
      printLines(receipts, context.output.json);
    });
  return new AdminCommand("receipt", ["receipt list acme"]).addCommand(list);
}
