/** bun admin audit: the record of what was done with the data, without personal data. */
import type { Command } from "commander";
import { writeMoment } from "../contract/time.ts";
import { listActs } from "../db/audit.ts";
import { accountOf, readWholeNumber } from "./arguments.ts";
import { AdminCommand, type CommandContext, jsonCommand, outputOf } from "./command.ts";
import { table } from "./terminal/table.ts";

interface Options {
  readonly account?: string;
  readonly limit: string;
  readonly json?: boolean;
}

const maxLimit = 100_000;

export function auditCommand(context: CommandContext): Command {
  return new AdminCommand("audit").examples("audit list").addCommand(
    jsonCommand("list")
      .description(
        "list what was done, newest first: find, erase, unblock, export, retain, backup, restore, and changes of keys and accounts",
      )
      .option("--account <ACCOUNT>", "only those on this account: ID or exact name")
      .option("--limit <N>", "the maximum number of lines", "100")
      .examples("audit list --limit 20", "audit list --account acme --json")
      .action((options: Options) => {
        const limit = readWholeNumber("--limit", options.limit, 1, maxLimit);
        const account = options.account === undefined ? null : accountOf(context, options.account).id;
        const acts = listActs(context.database().read, limit, account).map(({ atMs, ...act }) => ({
          at: writeMoment(atMs),
          ...act,
        }));
        const rows = acts.map(({ at, act, account, detail }) => [
          at.slice(0, 19).replace("T", " "),
          act,
          account ?? "",
          detailText(act, detail),
        ]);
        outputOf(options).result(acts, table(["AT", "ACT", "ACCOUNT", "DETAIL"], rows, "Nothing is on record."));
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
