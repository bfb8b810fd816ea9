/** bun admin demo --live: a lead every few seconds, so that a developer can watch a poller work. */
import { randomInt } from "node:crypto";
import { writeMoment } from "../../contract/time.ts";
import { UserError } from "../../operator/user-error.ts";
import { accountOf } from "../arguments.ts";
import type { CommandContext } from "../command.ts";
import type { Output } from "../terminal/output.ts";
import { createInventor, newLead } from "./leads.ts";

interface Live {
  readonly every: number;
  readonly seed?: number;
}

const longestSeconds = 86_400;

/** The option --every; throws a UserError that says what it takes. */
export function readSeconds(text: string): number {
  const seconds = /^\d{1,5}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= 0.01 && seconds <= longestSeconds) return seconds;
  throw new UserError(`--every takes seconds from 0.01 to ${longestSeconds}, such as 5 or 0.5.`, "", 2);
}

/** The option --seed; throws a UserError that says what it takes. */
export function readSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UserError("--seed takes a whole number from 0 to 999999999.", "", 2);
}

/** Invents leads until Ctrl-C. Each is written before it is told, and the same seed gives the same visitors. */
export async function goOn(context: CommandContext, output: Output, accountId: string, live: Live): Promise<void> {
  const account = accountOf(context.store(), accountId);
  const seed = live.seed ?? randomInt(1_000_000_000);
  const invent = createInventor(seed);
  const options = { onDuplicate: "skip", createPixels: true, dryRun: false } as const;
  const target = context.store().leads.beginImport(account.number, options);
  output.say(`A lead every ${live.every} s until Ctrl-C; --seed ${seed} gives the same visitors again.`);
  let count = 0;
  while (!(await context.pause(live.every * 1000))) {
    const nowMs = context.now();
    const visit = invent();
    // Without a time of its own a lead comes after all others, where whoever polls will find it.
    target.write([{ ...newLead(account.id, nowMs, visit), identifiedMs: null }], nowMs);
    count += 1;
    const { name, city, state, page_url: page } = visit.details;
    // All of them are of one site: its name would only break the line.
    output.say(`${writeMoment(nowMs)}  ${name} from ${city}, ${state}, at ${page?.replace(/^https:\/\/[^/]+/, "")}`);
  }
  output.say(`\n${count} ${count === 1 ? "lead" : "leads"} invented; they stay, and so does the key.`);
}
