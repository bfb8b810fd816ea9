/** bun admin import: lists imports, and undoes one. */
import type { Command } from "commander";
import { dayOf } from "../contract/calendar.ts";
import { formatTime } from "../contract/time.ts";
import type { Account } from "../db/accounts.ts";
import { type Batch, findBatch, listBatches } from "../db/imports.ts";
import { hasReplaced, undoBatch } from "../import/write/undo.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { runSteps, stoppedBy } from "../runtime/signals.ts";
import { UserError } from "../runtime/user-error.ts";
import { commandOnAccount } from "./arguments.ts";
import { AdminCommand, type CommandContext } from "./command.ts";
import { grouped, leadsText } from "./terminal/numbers.ts";
import { createProgress } from "./terminal/progress.ts";
import { table } from "./terminal/table.ts";

/** Returns the commands that list and undo imports. */
export function importCommand(context: CommandContext): Command {
  return new AdminCommand("import")
    .examples("import list acme", "import undo acme 3")
    .addCommand(listCommand(context))
    .addCommand(undoCommand(context));
}

function listCommand(context: CommandContext): Command {
  return commandOnAccount(context, "list")
    .description("list the imports of an account that added or replaced leads, newest first")
    .examples("import list acme", "import list acme --json")
    .action(({ number }: Account) => {
      const batches = listBatches(context.database().read, number);
      const header = ["IMPORT", "AT", "STATE", "ADDED", "REPLACED", ...lesser, "FILE"];
      const text = table(header, batches.map(cells), "The account has no imports.", lesser);
      context.output.result(batches.map(toJson), text);
      const [cutShort] = batches.filter((batch, place) => isCutShort(batch, batches.slice(0, place)));
      if (cutShort !== undefined) {
        context.output.say(
          `Import ${cutShort.number} is not finished. If it is not running, import its file again to complete it.`,
        );
      }
    });
}

function undoCommand(context: CommandContext): Command {
  return commandOnAccount(context, "undo")
    .description("remove exactly the leads that an import added")
    .argument("<IMPORT>", "number of the import, from import list")
    .examples("import undo acme 3")
    .action(async (account: Account, text: string) => {
      const batch = batchOf(context, account, text);
      if (batch.overwritten > 0) throw hasReplaced(batch.number);
      const removed = batch.undoneMs === null ? await undo(context, account, batch) : 0;
      const said =
        batch.undoneMs === null
          ? `Import ${batch.number} is undone: ${leadsText(removed)} removed.`
          : `Import ${batch.number} was already undone at ${formatTime(batch.undoneMs)}.`;
      context.output.result({ import: batch.number, removed }, said);
      if (removed > 0) {
        context.output.say(
          "This also removed leads that other files contain. To add them again, import those files again.",
        );
      }
    });
}

/** Returns the number of removed leads. Throws a UserError if a signal came before all were removed. */
async function undo(context: CommandContext, account: Account, batch: Batch): Promise<number> {
  const database = context.database();
  using progress = createProgress("Undoing", batch.imported, context.output);
  const steps = undoBatch(database, account, batch, context.now());
  const { done: removed, signal } = await runSteps(steps, (count) => progress.update(count, count));
  if (signal === null || findBatch(database.read, account.number, batch.number)?.undoneMs !== null) return removed;
  throw stoppedBy(
    signal,
    `Stopped after ${leadsText(removed)} of import ${batch.number} ${removed === 1 ? "was" : "were"} removed; the others stay.`,
    "Run the command again to complete it. To add the leads again, import the file again.",
  );
}

function batchOf(context: CommandContext, account: Account, text: string): Batch {
  const batch = /^\d{1,15}$/.test(text) ? findBatch(context.database().read, account.number, Number(text)) : null;
  if (batch !== null) return batch;
  throw new UserError(
    `The account has no import ${JSON.stringify(text)}.`,
    `To list the numbers, run: ${adminCommand} import list ACCOUNT`,
  );
}

/** Returns true if it was neither finished nor undone, and no later import of the same file was finished. */
function isCutShort(batch: Batch, later: readonly Batch[]): boolean {
  return (
    stateOf(batch) === "not finished" &&
    !later.some(({ file, finishedMs }) => file === batch.file && finishedMs !== null)
  );
}

/** Returns an import in the names and the order of `import list --json`. */
function toJson(batch: Batch) {
  const { number, startedMs, finishedMs, oldestMs, newestMs, undoneMs, file, by, ...counts } = batch;
  return {
    ...{ import: number, state: stateOf(batch), started_at: formatTime(startedMs), finished_at: orNull(finishedMs) },
    ...{ file, by, ...counts },
    ...{ oldest: orNull(oldestMs), newest: orNull(newestMs), undone_at: orNull(undoneMs) },
  };
}

function orNull(ms: number | null): string | null {
  return ms === null ? null : formatTime(ms);
}

/** The days of the leads that an import added, and who ran it: what does not fit a terminal of 80 columns. */
const lesser = ["OLDEST", "NEWEST", "BY"];

/** The columns of a table; --json has the rest. */
function cells(batch: Batch): string[] {
  const { number, startedMs, imported, replaced, oldestMs, newestMs, by, file } = batch;
  const at = formatTime(startedMs).slice(0, 19).replace("T", " ");
  const [oldest = "", newest = ""] = [oldestMs, newestMs].map((ms) => (ms === null ? "" : dayOf(ms)));
  return [String(number), at, stateOf(batch), grouped(imported), grouped(replaced), oldest, newest, by, file];
}

/** A running import and one that was killed look the same here. */
function stateOf({ finishedMs, undoneMs }: Batch): "done" | "not finished" | "undone" {
  if (undoneMs !== null) return "undone";
  return finishedMs === null ? "not finished" : "done";
}
