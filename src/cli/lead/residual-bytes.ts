/** Removes the bytes of deleted leads, and says which nodes still have them. */
import { isFileOfNode, sizeOf } from "../../db/database-files.ts";
import { areResiduesLeft } from "../../privacy/retention.ts";
import { adminCommand } from "../../runtime/program-name.ts";
import type { CommandContext } from "../command.ts";
import { bytesText } from "../terminal/numbers.ts";

/** From this size on, rewriting the file takes seconds. */
const manyBytes = 100_000_000;

/**
 * Removes the residual bytes of this deletion, and of earlier ones that were interrupted. If the command `hasDeleted` leads,
 * it reports the removal even if a server has removed the bytes in the meantime.
 */
export async function removeResidualBytes(context: CommandContext, hasDeleted: boolean): Promise<void> {
  const database = context.database();
  if (!hasDeleted && !areResiduesLeft(database.read)) return;
  const bytes = sizeOf(database.path);
  if (bytes >= manyBytes && !isFileOfNode(database.path)) {
    context.output.say(
      `Rewriting the file to remove residual bytes (${bytesText(bytes)}). Ctrl-C is safe: the leads stay erased, and the same ` +
        "command, or the server within a day, removes the bytes.",
    );
  }
  const nodes = await database.removeResidualBytes();
  if (nodes.length > 0)
    context.output.say(
      `No node has served the leads since ${(context.elapsedMs() / 1000).toFixed(1)} s after this command started. The files of ` +
        `${nodes.join(", ")} keep residual bytes until each is scrubbed: ${adminCommand} cluster scrub`,
    );
  else context.output.say(`${database.path} was rewritten: it and its log have no bytes of the deleted leads.`);
}
