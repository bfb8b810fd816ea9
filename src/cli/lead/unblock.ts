/** bun admin lead unblock: lifts the block of an erased person, by one address, phone, or ID. */
import type { Command } from "commander";
import type { Account } from "../../db/accounts.ts";
import { liftBlocks } from "../../privacy/suppressions.ts";
import { commandOnAccount } from "../arguments.ts";
import { type CommandContext, outputOf } from "../command.ts";
import { grouped } from "../terminal/numbers.ts";
import { type IdentifierOptions, kinds, readIdentifier, withIdentifier } from "./person.ts";

export function unblockCommand(context: CommandContext): Command {
  return withIdentifier(commandOnAccount(context, "unblock"))
    .description("lift the block of an erased person, by one email address, phone, or ID")
    .addHelpText(
      "after",
      `
Nothing comes back by itself: import the file again. An erasure blocks every
email address of the leads that it removed, and a lead stays out as long as
one of its addresses, its phone or its ID is blocked: lift each of them.

A restore keeps the newest decision. A restore of a backup from before the
erasure on another machine brings back the leads that were erased: delete such
backups first.`,
    )
    .examples("lead unblock acme --email dana@example.com", "lead unblock acme --phone - < phone.txt")
    .action(async (account: Account, options: IdentifierOptions) => {
      const identifier = await readIdentifier(context, account, options);
      const unblocked = await liftBlocks(context.database(), account, identifier, context.now());
      const output = outputOf(options);
      const by = `by ${kinds[identifier.kind].given} in ${account.name}`;
      const blocks = `${grouped(unblocked)} block${unblocked === 1 ? " is" : "s are"}`;
      output.result({ unblocked }, unblocked === 0 ? `Nobody was blocked ${by}.` : `${blocks} lifted ${by}.`);
      output.say(
        "Each email address, phone and ID is blocked by itself: a lead with another blocked one still stays out.",
      );
      if (unblocked > 0) output.say("Import the file again to bring the leads back.");
    });
}
