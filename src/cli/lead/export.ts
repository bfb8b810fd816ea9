/** bun admin lead export: all leads of an account, oldest first, in a form that imports back as it is. */

import { fstatSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Option } from "@commander-js/extra-typings";
import { csvRecord } from "../../contract/csv.ts";
import { leadFields } from "../../contract/lead.ts";
import { readDocument } from "../../contract/stored-lead.ts";
import { readLeadGroups, type StoredDocument } from "../../db/all-leads.ts";
import { recordReading } from "../../db/audit.ts";
import { stoppedBy, stopSignal } from "../../runtime/signals.ts";
import { accountIn } from "../arguments.ts";
import { AdminCommand, type AnyCommand, type CommandContext } from "../command.ts";
import { forTerminal, print } from "../terminal/output.ts";

/** Records the export in the audit before the first lead is printed. A reader that closes the pipe is not a failure. */
export function exportCommand(context: CommandContext): AnyCommand {
  return new AdminCommand("export", [
    "lead export acme > leads.ndjson",
    "lead export acme --format csv --spreadsheet-safe > leads.csv",
  ])
    .description("write all leads of an account to standard output, oldest first")
    .argument("<ACCOUNT>", "ID or exact name", accountIn(context))
    .addOption(
      new Option("--format <FORMAT>", "ndjson: a lead on each line, as served; csv: a table")
        .choices(["ndjson", "csv"])
        .default("ndjson"),
    )
    .option(
      "--spreadsheet-safe",
      "with csv: put a ' before a cell that a spreadsheet would run as a formula, and mark the text as UTF-8",
    )
    .action(async ({ number, id }, { format, spreadsheetSafe }) => {
      // A pipe whose reader takes no more would keep a signal from being heard.
      const stop = fstatSync(1).isFile() ? stopSignal() : null;
      const detail = { format };
      const database = context.database();
      await recordReading(database, "export", { atMs: context.now(), act: "lead.export", account: id, detail });
      for (const text of texts(readLeadGroups(database.read, number), format, spreadsheetSafe === true)) {
        if (stop !== null) await nextTurn();
        if (stop?.aborted === true) {
          throw stoppedBy(stop.reason, "Stopped: the output does not have all leads.", "Run the export again.");
        }
        if (!print(forTerminal(text))) return;
      }
    });
}

function* texts(groups: Iterable<readonly StoredDocument[]>, format: string, isSafe: boolean): Generator<string> {
  // Without the mark, spreadsheets read names in the code page of their machine, and save them so.
  if (format === "csv") yield `${isSafe ? "\uFEFF" : ""}${csvRecord(leadFields)}`;
  const textOf = (doc: string) => (format === "ndjson" ? `${doc}\n` : csvRecord(cellsOf(doc, isSafe)));
  for (const some of groups) {
    yield some.map(({ doc }) => textOf(doc)).join("");
  }
}

function cellsOf(document: string, safe: boolean): string[] {
  const lead = readDocument(document);
  return leadFields.map((field) => {
    const value = lead[field] ?? "";
    return safe && /^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value;
  });
}
