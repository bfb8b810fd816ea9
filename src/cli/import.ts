/** bun admin import: what each import brought, and taking one back. */
import { Command } from "commander";
import { dayOf } from "../contract/calendar.ts";
import { writeMoment } from "../contract/time.ts";
import { statusAfter } from "../operator/ending-signals.ts";
import { adminCommand } from "../program-name.ts";
import type { Batch } from "../store/imports.ts";
import type { Account } from "../store/repositories.ts";
import { UserError } from "../user-error.ts";
import { accountOf } from "./arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "./command.ts";
import { grouped, leadsText } from "./terminal/numbers.ts";
import type { Output } from "./terminal/output.ts";
import { createProgress } from "./terminal/progress.ts";
import { listed } from "./terminal/table.ts";

export function importsCommand(context: CommandContext): Command {
  return new Command("import")
    .description("list imports, and take one back")
    .addCommand(listCommand(context))
    .addCommand(undoCommand(context));
}

function listCommand(context: CommandContext): Command {
  return jsonCommand("list")
    .description("list the imports of an account that added or replaced leads, newest first")
    .argument("<ACCOUNT>", "id or exact name")
    .action((idOrName: string, options) => {
      const batches = context.store().imports.list(accountOf(context, idOrName));
      const header = ["IMPORT", "AT", "STATE", "ADDED", "REPLACED", ...lesser, "FILE"];
      const output = outputOf(options);
      const text = listed("The account has no imports.", header, batches.map(cells), lesser);
      output.result(batches.map(view), text);
      const [cutShort] = batches.filter((batch, place) => isCutShort(batch, batches.slice(0, place)));
      if (cutShort !== undefined) {
        output.say(
          `Import ${cutShort.number} is not finished: it still runs, or import its file again to complete it.`,
        );
      }
    });
}

function undoCommand(context: CommandContext): Command {
  return jsonCommand("undo")
    .description("take back exactly the leads that an import added; importing the file again brings them back")
    .argument("<ACCOUNT>", "id or exact name")
    .argument("<IMPORT>", "its number, as import list shows it")
    .action(async (idOrName: string, text: string, options) => {
      const account = accountOf(context, idOrName);
      const batch = findBatch(context, account, text);
      refuseOverwritten(batch);
      const output = outputOf(options);
      const removed = batch.undoneMs === null ? await takeBack(context, account, batch, output) : 0;
      const said =
        batch.undoneMs === null
          ? `Import ${batch.number} is taken back: ${leadsText(removed)} of it ${removed === 1 ? "is" : "are"} gone.`
          : `Import ${batch.number} was taken back at ${writeMoment(batch.undoneMs)} already.`;
      output.result({ import: batch.number, removed }, said);
      if (removed > 0)
        output.say("What another file has as well is gone, too: import that file again, and it is back.");
    });
}

/** Gives how many leads are gone. Throws a UserError where a signal came before all were. */
async function takeBack(context: CommandContext, account: Account, batch: Batch, output: Output): Promise<number> {
  const { imports } = context.store();
  using progress = createProgress("Taking back", batch.imported, output);
  let removed = 0;
  // Listens from here on.
  let signal = await context.pause(0);
  for await (removed of imports.undo(account, batch, context.now())) {
    progress.update(removed, removed);
    signal = await context.pause(0);
    if (signal !== null) break;
  }
  if (signal === null || imports.find(account, batch.number)?.undoneMs !== null) return removed;
  throw new UserError(
    `Stopped: ${leadsText(removed)} of import ${batch.number} ${removed === 1 ? "is" : "are"} gone, and the rest stays.`,
    "Run it again, and it completes; importing the file again brings them back.",
    statusAfter[signal],
  );
}

function findBatch(context: CommandContext, account: Account, text: string): Batch {
  const batch = /^\d{1,15}$/.test(text) ? context.store().imports.find(account, Number(text)) : null;
  if (batch !== null) return batch;
  throw new UserError(
    `The account has no import ${JSON.stringify(text)}.`,
    `${adminCommand} import list shows the numbers.`,
  );
}

function refuseOverwritten({ number, overwritten }: Batch): void {
  if (overwritten === 0) return;
  throw new UserError(
    `Import ${number} replaced ${leadsText(overwritten)}, and what was there before is not kept.`,
    `It stays; ${adminCommand} import list shows what each import did, and a backup from before has the leads.`,
  );
}

/** Whether it neither came to its end nor was taken back, and no later import of that file did what was left. */
function isCutShort(batch: Batch, later: readonly Batch[]): boolean {
  return (
    stateOf(batch) === "not finished" &&
    !later.some(({ file, finishedMs }) => file === batch.file && finishedMs !== null)
  );
}

function view(batch: Batch) {
  const { number, startedMs, finishedMs, oldestMs, newestMs, undoneMs, file, by, ...counts } = batch;
  return {
    ...{ import: number, state: stateOf(batch), started_at: writeMoment(startedMs), finished_at: orNull(finishedMs) },
    ...{ file, by, ...counts },
    ...{ oldest: orNull(oldestMs), newest: orNull(newestMs), undone_at: orNull(undoneMs) },
  };
}

function orNull(ms: number | null): string | null {
  return ms === null ? null : writeMoment(ms);
}

/** The days of the leads that an import added, and who ran it: what does not fit a terminal of 80 columns. */
const lesser = ["OLDEST", "NEWEST", "BY"];

/** The columns of a table; --json has the rest. */
function cells(batch: Batch): string[] {
  const { number, startedMs, imported, replaced, oldestMs, newestMs, by, file } = batch;
  const at = writeMoment(startedMs).slice(0, 19).replace("T", " ");
  const [oldest = "", newest = ""] = [oldestMs, newestMs].map((ms) => (ms === null ? "" : dayOf(ms)));
  return [String(number), at, stateOf(batch), grouped(imported), grouped(replaced), oldest, newest, by, file];
}

/** Nobody can tell one that runs from one that was killed; what both have in common is said. */
function stateOf({ finishedMs, undoneMs }: Batch): "done" | "not finished" | "taken back" {
  if (undoneMs !== null) return "taken back";
  return finishedMs === null ? "not finished" : "done";
}
