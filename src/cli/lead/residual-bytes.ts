/** Removes the bytes of deleted leads, and says which nodes still have them. */
import { sizeOf } from "../../db/files.ts";
import { areResiduesLeft } from "../../privacy/retention.ts";
import { adminCommand } from "../../program-name.ts";
import type { CommandContext } from "../command.ts";
import { bytesText } from "../terminal/numbers.ts";
import type { Output } from "../terminal/output.ts";

/** From this size on, rewriting the file takes seconds. */
const manyBytes = 100_000_000;

/** Removes the bytes of what was deleted now, and of earlier deletions that were stopped. */
export async function removeResidualBytes(context: CommandContext, output: Output): Promise<void> {
  const database = context.database();
  if (!areResiduesLeft(database.read)) return;
  const bytes = sizeOf(database.path);
  if (bytes >= manyBytes) {
    output.say(
      `The file is now rewritten without it (${bytesText(bytes)}). Ctrl-C is safe: what is erased stays erased, and the ` +
        "same command, or the server within a day, removes its bytes.",
    );
  }
  const nodes = await database.removeResidualBytes();
  if (nodes.length > 0)
    output.say(
      `No node serves it. The logs of ${nodes.join(", ")} hold it until ${adminCommand} cluster scrub has run there.`,
    );
  else output.say(`${database.path} was rewritten: nothing of the deleted leads is left in it and its log.`);
}
