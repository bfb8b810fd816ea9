/** bun admin follow: new leads of any server, as they come, to standard output, a command or a signed POST. */
import { Command } from "commander";
import type { PackageContext } from "../../../src/cli/command.ts";
import { createOutput } from "../../../src/cli/terminal/output.ts";
import { stopSignal } from "../../../src/cli/terminal/signals.ts";
import { statusOfService } from "../../../src/operator/ending-signals.ts";
import type { Lead } from "../src/leadfile.ts";
import { createClient, messageOf, readKey, toUserError } from "./api-client.ts";
import { checkpointIn, type FollowOptions, lockCheckpoint, readReceiver, readSince } from "./options.ts";
import { deliver, type Receiver } from "./receiver.ts";

export function followCommand(context: PackageContext): Command {
  return new Command("follow")
    .description("pass on each new lead of a server as it comes, oldest first")
    .argument("<URL>", "base address, such as https://www.example.com")
    .option("--exec <CMD>", "give each lead to this command, on its standard input")
    .option("--post <URL>", "post each lead to this address, signed")
    .option("--since <TIME>", "begin here, not with the oldest lead")
    .option("--every <TIME>", "from one poll to the next", "1m")
    .option("--overlap <TIME>", "how far to look back for leads that come late", "1h")
    .option("--checkpoint <FILE>", "remember in this file what was taken")
    .option("--allow-plain-http", "use http to other machines, where others may read")
    .addHelpText(
      "after",
      `
The key is LEADFILE_KEY, or the first line of standard input. Without --exec or
--post, leads are lines of JSON on standard output. A lead is taken when its
line is written, the command ends with status 0, or the answer is a 2xx; until
then it is tried again, with growing pauses, and the others wait behind it. The
checkpoint moves after that. A kill can repeat one lead, and loses none.

Leads that come later than --overlap are missed. A longer --overlap helps from
then on. To get what was missed before, or to leave out a lead that nobody ever
takes, begin a new checkpoint with --since.

--post signs with LEADFILE_POST_SECRET: Leadfile-Signature is sha256= and the
HMAC-SHA-256, in hex, of Leadfile-Timestamp, a dot and the body. The
Idempotency-Key is the id of the lead. The command of --exec sees neither key
nor secret.`,
    )
    .action((url: string, options: FollowOptions) => follow(context, url, options));
}

async function follow(context: PackageContext, url: string, options: FollowOptions): Promise<void> {
  const { say } = createOutput(false);
  const since = readSince(options.since);
  const receiver = readReceiver(context, options);
  const key = await readKey(context);
  const client = createClient({ baseUrl: url, key, allowPlainHttp: options.allowPlainHttp === true });
  const release = options.checkpoint === undefined ? null : await lockCheckpoint(context, options.checkpoint);
  const stop = stopSignal();
  const leads = client.leads.follow({
    since,
    every: options.every,
    overlap: options.overlap,
    checkpoint: options.checkpoint === undefined ? undefined : checkpointIn(options.checkpoint),
    signal: stop,
    onError: (error) => say(`${messageOf(error)} The next poll tries again.`),
  });
  await passOn(leads, receiver, say, stop).finally(release);
  // Standard input may still be waited for.
  process.exit(stop.aborted ? statusOfService(stop.reason) : 0);
}

/** Passes leads on until a stop, or until nobody takes them. A lead that was not taken comes again at the next start. */
async function passOn(
  leads: AsyncIterable<Lead>,
  receiver: Receiver,
  say: (text: string) => void,
  stop: AbortSignal,
): Promise<void> {
  try {
    for await (const lead of leads) {
      if (!(await deliver(lead, receiver, say, stop))) return;
    }
  } catch (cause) {
    throw toUserError(cause);
  }
}
