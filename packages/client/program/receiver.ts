/** A receiver of followed leads, how a lead that was not taken is offered again, and the receiver that runs a command. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Lead, LeadfileError } from "../src/leadfile.ts";
import { printable } from "./terminal.ts";

/**
 * The outcome of one try: true if the lead was taken, and false if nobody takes leads any more, such as `head` after its
 * last line. After a failure, the lead is offered again.
 */
export type Outcome = boolean | Failure;

interface Failure {
  /** A sentence without personal data. */
  readonly why: string;
  /** The wait that the receiver asks for; 0 if it does not. */
  readonly retryAfterMs: number;
  /** Advice for a person if waiting is unlikely to help; empty otherwise. */
  readonly advice: string;
}

export interface Receiver {
  (lead: Lead): Promise<Outcome>;
  /** Is called at a stop. Without it, a stop waits for the end of the try. */
  readonly onStop?: () => void;
}

/** A try that may succeed later, unless there is advice. */
export function failed(why: string, { retryAfterMs = 0, advice = "" }: Partial<Failure> = {}): Failure {
  return { why, retryAfterMs, advice };
}

const firstPauseMs = 500;
const maxPauseMs = 60_000;

/**
 * Offers a lead until it is taken, with growing pauses. Gives advice once for each reason. Returns false if a stop came
 * first, or if nobody takes leads any more.
 */
export async function deliver(
  lead: Lead,
  receiver: Receiver,
  say: (text: string) => void,
  stop: AbortSignal,
): Promise<boolean> {
  const advised = new Set<string>();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const outcome = await receiver(lead);
    if (typeof outcome === "boolean") return outcome;
    if (stop.aborted) return false;
    const waitMs = Math.max(pauseMs, outcome.retryAfterMs);
    const advice = outcome.advice === "" || advised.has(outcome.why) ? "" : ` ${outcome.advice}`;
    advised.add(outcome.why);
    say(`${outcome.why}${advice} Lead ${printable(lead.id)} is tried again in ${waitMs / 1000} s.`);
    await sleep(waitMs, undefined, { signal: stop }).catch(() => undefined); // An abort ends the wait early.
    if (stop.aborted) return false;
  }
}

/**
 * A shell command as a receiver: a new process for each lead, with the lead on its standard input. Status 0 means that the
 * lead was taken. The command sees this environment, and shares our standard output and standard error.
 */
export function command(line: string, environment: NodeJS.ProcessEnv): Receiver {
  return async (lead) => {
    const child = run(line, lead, environment);
    const status = await child.exited;
    const end = child.signalCode === null ? `with status ${status}` : `by ${child.signalCode}`;
    return status === 0 || failed(`The command ended ${end}.`);
  };
}

function run(line: string, lead: Lead, environment: NodeJS.ProcessEnv) {
  try {
    return Bun.spawn(["/bin/sh", "-c", line], {
      env: environment,
      stdin: Buffer.from(`${JSON.stringify(lead)}\n`),
      stdout: "inherit",
      stderr: "inherit",
    });
  } catch {
    throw new LeadfileError("--exec needs /bin/sh, which could not be started. Use --post, which needs no shell.");
  }
}
