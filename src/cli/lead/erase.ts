/** bun admin lead erase: a person is taken out of the file, bytes and all, and kept out. */
import type { Command } from "commander";
import { UserError } from "../../operator/user-error.ts";
import type { Traces } from "../../store/privacy.ts";
import { accountOf, jsonCommand, outputOf, type Surroundings } from "../command.ts";
import type { Output } from "../terminal/output.ts";
import { leadsText } from "./find.ts";
import { type PersonOptions, readPerson, withPerson } from "./person.ts";
import { grouped } from "./progress.ts";

export function eraseCommand(around: Surroundings): Command {
  return withPerson(jsonCommand("erase"))
    .description("remove one person for good, keep them out of later imports, and print a receipt")
    .argument("<ACCOUNT>", "id or exact name")
    .action(async (idOrName: string, options: PersonOptions) => {
      const account = accountOf(around.store(), idOrName);
      const person = await readPerson(around, options);
      const { erased, receipt, alike, removeTraces } = around.store().people.erase(account, person, around.now());
      const output = outputOf(options);
      // The receipt first: the person is gone from here on, whatever becomes of the search for what is left.
      output.result({ erased, receipt }, JSON.stringify(receipt));
      const found = erased === 0 ? "Nothing was held on this person" : `Erased ${leadsText(erased)}`;
      output.say(`${found} in ${account.name}; a later import or restore leaves them out.`);
      if (alike > 0) {
        output.say(
          `Another ${leadsText(alike)} with an e-mail address of these stayed: find and erase them by that address.`,
        );
      }
      sayTraces(output, around.databasePath, removeTraces());
      output.say("Out of reach: exports, rejects files, logs, and backups made before (a restore erases again).");
    });
}

/** Says what the search for bytes has found; throws a UserError where something is left. */
export function sayTraces(output: Output, path: string, { gone, bytes, shared, copies }: Traces): void {
  if (!gone) {
    throw new UserError(
      "It is erased, but its bytes are in the log until another program stops reading the state before.",
      "End that program (a long query or backup), and run this again.",
    );
  }
  const left =
    shared === 0
      ? "nothing of it is left"
      : `nothing is left but ${grouped(shared)} value${shared === 1 ? "" : "s"} that other leads have as well`;
  output.say(`Looked through all ${grouped(bytes)} bytes of ${path} and its log: ${left}.`);
  for (const copy of copies) output.say(`This copy still holds it, delete it when you can: ${copy}`);
}
