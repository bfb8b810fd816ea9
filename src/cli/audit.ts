/** bun admin audit: the record of what was done with the data, without personal data. */
import type { Command } from "commander";
import { formatTime } from "../contract/time.ts";
import type { Account } from "../db/accounts.ts";
import { listActs } from "../db/audit.ts";
import { accountIn, wholeNumber } from "./arguments.ts";
import { AdminCommand, type CommandContext, jsonCommand } from "./command.ts";
import { table } from "./terminal/table.ts";

interface Options {
  readonly account?: Account;
  readonly limit: number;
}

export function auditCommand(context: CommandContext): Command {
  return new AdminCommand("audit").examples("audit list").addCommand(
    jsonCommand("list")
      .description(
        "list the audit log, newest first: find, erase, unblock, export, retain, backup, restore, and changes of keys and accounts",
      )
      .option("--account <ACCOUNT>", "list only entries of this account (ID or exact name)", accountIn(context))
      .option("--limit <N>", "the maximum number of entries", wholeNumber("--limit", 1, 100_000), 100)
      .examples("audit list --limit 20", "audit list --account acme --json")
      .action((options: Options) => {
        const { account, limit } = options;
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
