/** What the search for bytes of erased leads has found, in words. */
import { printable } from "../../printable.ts";
import { adminCommand } from "../../program-name.ts";
import type { Erasure, Traces } from "../../store/privacy.ts";
import { UserError } from "../../user-error.ts";
import type { CommandContext } from "../command.ts";
import { andMore, bytesText, grouped } from "../terminal/numbers.ts";
import type { Output } from "../terminal/output.ts";

/** From this many bytes on, the search takes more than a moment. */
const manyBytes = 100_000_000;
const accountsShown = 3;

/** Removes the bytes of erased leads. From here on a signal ends the process at once: SQLite may work for minutes. */
export function removeTraces(context: CommandContext, output: Output, erasure: Pick<Erasure, "removeTraces">): Traces {
  return erasure.removeTraces((bytes) => {
    context.forgetSignals();
    if (bytes < manyBytes) return;
    output.say(
      `Its bytes are now looked for in ${bytesText(bytes)}. Ctrl-C is safe: what is erased stays erased, and the same ` +
        "command, or the server within a day, removes its bytes.",
    );
  });
}

/** Throws a UserError where something is left. */
export function sayTraces(output: Output, path: string, traces: Traces): void {
  const { gone, bytes, sharedBy, copies, givenNames, inLogsOf = [] } = traces;
  if (!gone) {
    throw new UserError(
      "It is erased, but its bytes stay in the log as long as another program reads the old state.",
      "End that program (a long query, a backup or Litestream), and run this again.",
    );
  }
  if (inLogsOf.length > 0) {
    const nodes = inLogsOf.join(", ");
    output.say(`No node serves it. The logs of ${nodes} hold it until ${adminCommand} cluster scrub has run there.`);
    return;
  }
  const nothing = givenNames.length === 0 ? "nothing of it is left" : "nothing else of it is left";
  const left =
    sharedBy.length === 0 ? nothing : `nothing is left but what other leads of ${named(sharedBy)} have as well`;
  output.say(`Looked through all ${grouped(bytes)} bytes of ${path} and its log: ${left}.`);
  for (const name of givenNames)
    output.say(`The name of a file, a pixel, a key, a source or an account holds it, and stays: ${printable(name)}`);
  for (const copy of copies) output.say(`This copy still holds it, delete it when you can: ${printable(copy)}`);
}

function named(accounts: readonly string[]): string {
  const shown = accounts.slice(0, accountsShown).map(printable);
  return shown.join(" and ") + andMore(accounts.length, accountsShown);
}
