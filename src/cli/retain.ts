/** bun admin retain: how long the leads of an account are kept. */
import type { Command } from "commander";
import { statusAfter } from "../operator/ending-signals.ts";
import { printable } from "../operator/printable.ts";
import { UserError } from "../operator/user-error.ts";
import type { RetentionStep } from "../store/privacy.ts";
import { accountOf, readWholeNumber } from "./arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "./command.ts";
import { sayTraces } from "./lead/traces.ts";
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
      const { erased, traces } = await erase(context, retention.set(account, days, context.now()), older, output);
      output.result({ days, erased }, textOf(account.name, days, erased));
      if (traces !== null && (erased > 0 || !traces.gone)) sayTraces(output, context.databasePath, traces);
    });
}

/** Gives the last step. Throws a UserError where a signal comes before it. */
async function erase(context: CommandContext, steps: Iterable<RetentionStep>, older: number, output: Output) {
  using progress = createProgress("Erasing", older, output);
  let step: RetentionStep = { erased: 0, traces: null };
  // Listens from here on.
  await context.process.pause(0);
  for (step of steps) {
    if (step.traces === null) progress.update(step.erased, step.erased);
    const signal = await context.process.pause(0);
    if (signal === null || step.traces !== null) continue;
    throw new UserError(
      `Stopped: ${grouped(step.erased)} of ${grouped(older)} older leads are gone, and their bytes are still to be removed.`,
      "Run it again, and it completes; the server does so too, daily.",
      statusAfter[signal],
    );
  }
  return step;
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
