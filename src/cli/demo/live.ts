/** bun admin demo --live: a lead every few seconds, so that a developer can watch a poller work. */
import { randomInt } from "node:crypto";
import { writeMoment } from "../../contract/time.ts";
import { accountOf } from "../arguments.ts";
import type { CommandContext } from "../command.ts";
import type { Output } from "../terminal/output.ts";
import { stopSignal } from "../terminal/signals.ts";
import { createInventor, newLead } from "./leads.ts";

interface Live {
  readonly every: number;
  readonly seed?: number;
}

/** Invents leads until Ctrl-C. Each is written before it is shown. The same seed gives the same visitors. */
export async function goOn(context: CommandContext, output: Output, accountId: string, live: Live): Promise<void> {
  const account = accountOf(context, accountId);
  const seed = live.seed ?? randomInt(1_000_000_000);
  const invent = createInventor(seed);
  const importer = await context.database().importer();
  output.say(`A lead every ${live.every} s until Ctrl-C; --seed ${seed} gives the same visitors again.`);
  let count = 0;
  const stop = stopSignal();
  for (;;) {
    await context.sleep(live.every * 1000, stop);
    if (stop.aborted) break;
    const nowMs = context.now();
    const visit = invent();
    // A lead without a time comes after all others, where a client that polls finds it.
    const lead = { ...newLead(account.id, nowMs, visit), identifiedMs: null };
    await importer.writeLeads(account.number, [lead], { onDuplicate: "skip", createPixels: true, nowMs });
    count += 1;
    const { name, city, state, page_url: page } = visit.details;
    // Every page is of the same site: its name would only make the line longer.
    output.say(`${writeMoment(nowMs)}  ${name} from ${city}, ${state}, at ${page?.replace(/^https:\/\/[^/]+/, "")}`);
  }
  output.say(`\n${count} ${count === 1 ? "lead" : "leads"} invented; they stay, and so does the key.`);
}
