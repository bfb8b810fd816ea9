/** bun admin lead unblock: lets a person in again who was erased, by one address, phone or id. */
import type { Command } from "commander";
import { accountOf } from "../arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "../command.ts";
import { grouped } from "../terminal/numbers.ts";
import { given, type IdentifierOptions, readIdentifier, withIdentifier } from "./person.ts";

export function unblockCommand(context: CommandContext): Command {
  return withIdentifier(jsonCommand("unblock"))
    .description("let an erased person in again: lift the block of one e-mail address, phone or id")
    .argument("<ACCOUNT>", "id or exact name")
    .addHelpText(
      "after",
      `
Nothing comes back by itself: import the file again. An erasure blocks every
e-mail address of the leads that it removed, and a lead stays out as long as
one of its addresses, its phone or its id is blocked: lift each of them.

A restore of a backup that has the block brings it back, and so does a receipt
that is applied. A restore of a backup from before the erasure brings back the
leads that were erased: delete such backups first.`,
    )
    .action(async (idOrName: string, options: IdentifierOptions) => {
      const account = accountOf(context, idOrName);
      const identifier = await readIdentifier(context, options);
      const unblocked = context.store().people.unblock(account, identifier, context.now());
      const output = outputOf(options);
      const by = `by ${given[identifier.kind]} in ${account.name}`;
      const blocks = `${grouped(unblocked)} block${unblocked === 1 ? " is" : "s are"}`;
      output.result({ unblocked }, unblocked === 0 ? `Nobody was blocked ${by}.` : `${blocks} lifted ${by}.`);
      output.say(
        "Each e-mail address, phone and id is blocked by itself: a lead with another blocked one still stays out.",
      );
      if (unblocked === 0) return;
      output.say(
        "Import the file again. A backup or a receipt of the erasure would bring the block back. A backup from before it " +
          "would bring back what was erased: delete it.",
      );
    });
}
