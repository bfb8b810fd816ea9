/** bun admin import: lists imports, and undoes one. */
import { dayOf } from "../contract/calendar.ts";
import { formatTime } from "../contract/time.ts";
import type { Account } from "../db/accounts.ts";
import { findImport, listImports, type StoredImport } from "../db/imports.ts";
import { hasReplaced, undoImport } from "../import/write/undo.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";
import { commandOnAccount } from "./arguments.ts";
import { AdminCommand, type AnyCommand, type CommandContext } from "./command.ts";
import { grouped, leadsText } from "./terminal/numbers.ts";
import { runWithProgress } from "./terminal/progress.ts";
import { table } from "./terminal/table.ts";

/** The commands `import list` and `import undo`. */
export function importCommand(context: CommandContext): AnyCommand {
  return new AdminCommand("import", ["import list acme", "import undo acme 3"])
    .addCommand(listCommand(context))
    .addCommand(undoCommand(context));
}

function listCommand(context: CommandContext): AnyCommand {
  return commandOnAccount(context, "list", ["import list acme", "import list acme --json"])
    .description("list the imports of an account that added or replaced leads, newest first")
    .action(({ number }) => {
      const records = listImports(context.database().read, number);
      const header = ["IMPORT", "AT", "STATE", "ADDED", "REPLACED", ...lesser, "FILE"];
      const text = table(header, records.map(cells), "The account has no imports.", lesser);
      context.output.result(records.map(toJson), text);
      const [cutShort] = records.filter((record, index) => isCutShort(record, records.slice(0, index)));
      if (cutShort !== undefined) {
        context.output.say(
          `Import ${cutShort.number} is not finished. If it is not running, import its file again to complete it.`,
        );
      }
    });
}

function undoCommand(context: CommandContext): AnyCommand {
  return commandOnAccount(context, "undo", ["import undo acme 3"])
    .description("remove exactly the leads that an import added")
    .argument("<IMPORT>", "number of the import, from import list")
    .action(async (account, text) => {
      const record = recordOf(context, account, text);
      if (record.overwritten > 0) throw hasReplaced(record.number);
      const removed = record.undoneMs === null ? await undo(context, account, record) : 0;
      const said =
        record.undoneMs === null
          ? `Import ${record.number} is undone: ${leadsText(removed)} removed.`
          : `Import ${record.number} was already undone at ${formatTime(record.undoneMs)}.`;
      context.output.result({ import: record.number, removed }, said);
      if (removed > 0) {
        context.output.say(
          "This also removed leads that other files contain. To add them again, import those files again.",
        );
      }
    });
}

/** Returns the number of removed leads. */
async function undo(context: CommandContext, account: Account, record: StoredImport): Promise<number> {
  const database = context.database();
  const steps = undoImport(database, account, record, context.now);
  return await runWithProgress("Undoing", record.imported, context.output, steps, (removed) => {
    if (findImport(database.read, account.number, record.number)?.undoneMs !== null) return null;
    const were = `${leadsText(removed)} of import ${record.number} ${removed === 1 ? "was" : "were"} removed`;
    return `Stopped after ${were}. The import is not undone yet.`;
  });
}

function recordOf(context: CommandContext, account: Account, text: string): StoredImport {
  const record = /^\d{1,15}$/.test(text) ? findImport(context.database().read, account.number, Number(text)) : null;
  if (record !== null) return record;
  throw new UserError(
    `The account has no import ${JSON.stringify(text)}.`,
    `To list the numbers, run: ${adminCommand} import list ACCOUNT`,
  );
}

/** Returns true if it was neither finished nor undone, and no later import of the same file was finished. */
function isCutShort(record: StoredImport, later: readonly StoredImport[]): boolean {
  return (
    stateOf(record) === "not finished" &&
    !later.some(({ file, finishedMs }) => file === record.file && finishedMs !== null)
  );
}

/** Returns an import in the names and the order of `import list --json`. */
function toJson(record: StoredImport) {
  const { number, startedMs, finishedMs, oldestMs, newestMs, undoneMs, file, by, ...counts } = record;
  return {
    ...{ import: number, state: stateOf(record), started_at: formatTime(startedMs), finished_at: orNull(finishedMs) },
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
function cells(record: StoredImport): string[] {
  const { number, startedMs, imported, replaced, oldestMs, newestMs, by, file } = record;
  const at = formatTime(startedMs).slice(0, 19).replace("T", " ");
  const [oldest = "", newest = ""] = [oldestMs, newestMs].map((ms) => (ms === null ? "" : dayOf(ms)));
  return [String(number), at, stateOf(record), grouped(imported), grouped(replaced), oldest, newest, by, file];
}

/** A running import and one that was killed look the same here. */
function stateOf({ finishedMs, undoneMs }: StoredImport): "done" | "not finished" | "undone" {
  if (undoneMs !== null) return "undone";
  return finishedMs === null ? "not finished" : "done";
}
