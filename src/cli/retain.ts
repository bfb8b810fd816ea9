/** bun admin retain: how long the leads of an account are kept. */
import type { Command } from "commander";
import { statusAfter } from "../operator/ending-signals.ts";
import { printable } from "../operator/printable.ts";
import { UserError } from "../operator/user-error.ts";
import { accountOf, readWholeNumber } from "./arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "./command.ts";
import { removeTraces, sayTraces } from "./lead/traces.ts";
import { canAsk, confirm } from "./terminal/confirm.ts";
import { daysText, grouped, leadsText } from "./terminal/numbers.ts";
import type { Output } from "./terminal/output.ts";
import { createProgress } from "./terminal/progress.ts";

interface Options {
  readonly days: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const mostDays = 36_500;

export function retainCommand(context: CommandContext): Command {
  return jsonCommand("retain")
    .description("keep leads for so many days: erase older ones now and daily, and reject them at import")
    .argument("<ACCOUNT>", "id or exact name")
    .requiredOption("--days <N>", "how many days, 1 to 36,500; off keeps all from now on")
    .option("--yes", "do not ask, even if every lead would be erased")
    .action(async (idOrName: string, options: Options) => {
      const days = options.days === "off" ? null : readWholeNumber("--days", options.days, 1, mostDays, ", or off");
      const account = accountOf(context, idOrName);
      const { retention } = context.store();
      const { older, all } =
        days === null ? { older: 0, all: 0 } : retention.survey(account.number, days, context.now());
      if (older > 0 && older === all && options.yes !== true) await confirmAll(account.name);
      const output = outputOf(options);
      const retaining = retention.set(account, days, context.now());
      const erased = await erase(context, retaining.steps(), older, output);
      const traces = removeTraces(context, output, retaining);
      output.result({ days, erased }, textOf(account.name, days, erased));
      if (erased > 0 || !traces.gone) sayTraces(output, context.databasePath, traces);
    });
}

/** Gives how many leads are gone. Throws a UserError where a signal comes before the last. */
async function erase(context: CommandContext, steps: Iterable<number>, older: number, output: Output): Promise<number> {
  using progress = createProgress("Erasing", older, output);
  let erased = 0;
  // Listens from here on.
  await context.process.pause(0);
  for (erased of steps) {
    progress.update(erased, erased);
    const signal = await context.process.pause(0);
    if (signal === null) continue;
    throw new UserError(
      `Stopped: ${grouped(erased)} of ${grouped(older)} older leads are gone, and their bytes are still to be removed.`,
      "Run it again, and it completes; the server does so too, daily.",
      statusAfter[signal],
    );
  }
  return erased;
}

function textOf(name: string, days: number | null, erased: number): string {
  if (days === null) return `All leads of ${name} are kept from now on.`;
  const kept = `Leads of ${name} are kept for ${daysText(days)}`;
  return `${kept}; ${erased === 0 ? "none was older" : `${leadsText(erased)} older than that ${erased === 1 ? "is" : "are"} erased`}.`;
}

/** Asks on a terminal. Throws a UserError where nobody can be asked, and where the answer is no. */
async function confirmAll(name: string): Promise<void> {
  if (canAsk()) {
    return confirm(`This erases all leads of ${printable(name)}: even the newest is older. Go on?`, {});
  }
  throw new UserError(`This would erase all leads of ${name}, and nothing was changed.`, "Say --yes if you mean it.");
}
