/** bun admin lead unblock: lifts the block of an erased person, by one address, phone, or ID. */
import { liftBlocks } from "../../privacy/suppressions.ts";
import { commandOnAccount } from "../arguments.ts";
import type { AnyCommand, CommandContext } from "../command.ts";
import { counted } from "../terminal/numbers.ts";
import { kinds, readIdentifier, withIdentifier } from "./person.ts";

/** The command `lead unblock`, which may be repeated. Other values of the person stay blocked. */
export function unblockCommand(context: CommandContext): AnyCommand {
  return withIdentifier(
    commandOnAccount(context, "unblock", [
      "lead unblock acme --email dana@example.com",
      "lead unblock acme --phone - < phone.txt",
    ]),
  )
    .description("remove the block of an erased person, by email address, phone, or ID")
    .addHelpText(
      "after",
      `
Pass exactly one of --email, --phone, and --id. Then import the file again to
get the leads back.

An erasure blocks what was given to it, and the IDs and email addresses of the
leads that it removed. Unblock what was given first: that also unblocks the IDs.
A lead stays out as long as one of its email addresses, its phone, or its ID is
blocked: unblock each of them.

A restore keeps the newest decision. On another machine, a restore of a backup
from before the erasure restores the erased leads: delete such backups first.`,
    )
    .action(async (account, options) => {
      const identifier = await readIdentifier(context, account, options);
      const unblocked = await liftBlocks(context.database(), account, identifier, context.now());
      const blocks = unblocked === 0 ? "No block" : counted("block")(unblocked);
      const done = unblocked === 0 ? "was found" : unblocked === 1 ? "is removed" : "are removed";
      const text = `${blocks} of ${kinds[identifier.kind].given} ${done} in ${account.name}.`;
      context.output.result({ unblocked }, text);
      context.output.say(
        "Email addresses and phones are blocked separately: a lead with another blocked value still stays out.",
      );
      if (unblocked > 0) context.output.say("Import the file again to bring the leads back.");
    });
}
