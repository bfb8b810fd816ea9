/** bun admin retain: sets for how many days the leads of an account are kept. */
import { dayOf } from "../contract/calendar.ts";
import { countDueLeads, type DueLeads, maxSilenceDays } from "../db/due-leads.ts";
import { eraseOlder, setRetention } from "../privacy/retention.ts";
import { printable, UserError } from "../runtime/user-error.ts";
import { commandOnAccount, wholeNumber } from "./arguments.ts";
import type { AnyCommand, CommandContext } from "./command.ts";
import { removeResidualBytes, sayCopies } from "./residual-data.ts";
import { daysText, grouped, leadsText } from "./terminal/numbers.ts";
import { runWithProgress } from "./terminal/progress.ts";
import { canAsk, confirm } from "./terminal/prompt.ts";

const numberOfDays = wholeNumber("--days", 1, 36_500, ", or off");

/** Sets the retention, then erases what is older. A signal between the two leaves the rest to the next run, or to the server. */
export function retainCommand(context: CommandContext): AnyCommand {
  return commandOnAccount(context, "retain", ["retain acme --days 365", "retain acme --days off"])
    .requiredOption("--days <N>", "retention period in days, 1 to 36,500; off keeps all leads", (text) =>
      text === "off" ? text : numberOfDays(text),
    )
    .option("--yes", "do not ask, even if most leads would be erased or the clock may be wrong")
    .action(async (account, { days, yes }) => {
      const database = context.database();
      const nowMs = context.now();
      if (days === "off") {
        await setRetention(database, account, null, nowMs);
        context.output.result({ days: null, erased: 0 }, `All leads of ${account.name} are kept from now on.`);
        return;
      }
      const keeping = { ...account, retainDays: days };
      const due = countDueLeads(database.read, keeping, nowMs);
      if (yes !== true) await confirmErasure(account.name, due, nowMs);
      await setRetention(database, account, days, nowMs);
      const stopped = (erased: number) =>
        `Stopped: ${grouped(erased)} of ${grouped(due.older)} older leads are erased, but their bytes are not removed yet.`;
      const steps = eraseOlder(database, keeping, nowMs);
      const erased = await runWithProgress("Erasing", due.older, context.output, steps, stopped);
      const none =
        erased === 0 ? "none was older" : `${leadsText(erased)} older than that ${erased === 1 ? "is" : "are"} erased`;
      context.output.result({ days, erased }, `Leads of ${account.name} are kept for ${daysText(days)}; ${none}.`);
      await removeResidualBytes(context, erased > 0);
      if (erased > 0) await sayCopies(context, null);
    });
}

/** Asks at a terminal before unusually many leads are erased. Throws a UserError without a terminal, or if the answer is no. */
async function confirmErasure(name: string, { older, all, doubt }: DueLeads, nowMs: number): Promise<void> {
  if (doubt === null) return;
  const what =
    older < all ? `${grouped(older)} of ${leadsText(all)} of ${printable(name)}` : `all leads of ${printable(name)}`;
  const clock = ` The clock says ${dayOf(nowMs)}, and nothing was done in the ${maxSilenceDays} days before.`;
  const why = doubt === "clock" ? clock : "";
  if (canAsk()) return confirm(`This erases ${what}.${why} Continue?`, {});
  throw new UserError(`Nothing was changed. This would erase ${what}.${why}`, "To confirm, pass --yes.");
}
