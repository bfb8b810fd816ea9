/** bun admin audit: what was done with the data, without personal data. */
import { Command } from "commander";
import { writeMoment } from "../contract/time.ts";
import { listActs } from "../db/audit.ts";
import { accountOf, readWholeNumber } from "./arguments.ts";
import { type CommandContext, examples, jsonCommand, outputOf } from "./command.ts";
import { listed } from "./terminal/table.ts";

interface Options {
  readonly account?: string;
  readonly limit: string;
  readonly json?: boolean;
}

const mostShown = 100_000;

export function auditCommand(context: CommandContext): Command {
  return new Command("audit")
    .description("the record of what was done with the data, without personal data")
    .addHelpText("after", examples("audit list"))
    .addCommand(
      jsonCommand("list")
        .description(
          "list acts, newest first: find, erase, unblock, export, retain, backup, restore and those on keys and accounts",
        )
        .option("--account <ACCOUNT>", "only acts on this account; its id or exact name")
        .option("--limit <N>", "how many to show at most", "100")
        .addHelpText("after", examples("audit list --limit 20", "audit list --account acme --json"))
        .action((options: Options) => {
          const most = readWholeNumber("--limit", options.limit, 1, mostShown);
          const account = options.account === undefined ? null : accountOf(context, options.account).id;
          const acts = listActs(context.database().read, most, account).map(({ atMs, ...act }) => ({
            at: writeMoment(atMs),
            ...act,
          }));
          const rows = acts.map(({ at, act, account, detail }) => [
            at.slice(0, 19).replace("T", " "),
            act,
            account ?? "",
            detailText(act, detail),
          ]);
          outputOf(options).result(acts, listed("No act is on record.", ["AT", "ACT", "ACCOUNT", "DETAIL"], rows));
        }),
    );
}

/** In as few letters as tell it, for a terminal of 80 columns: an id of what the act names stands alone. */
function detailText(act: string, detail: Readonly<Record<string, string | number | null>>): string {
  return Object.entries(detail)
    .map(([name, value]) => {
      const isOwnId = typeof value === "string" && act.startsWith(`${name}.`);
      return isOwnId ? value : `${name.replaceAll("_", " ")} ${value ?? "none"}`;
    })
    .join(", ");
}
