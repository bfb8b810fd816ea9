/** A receiver of followed leads, how a lead that was not taken is offered again, and the receiver that runs a command. */
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../src/exchange.ts";
import { type Lead, LeadfileError } from "../src/leadfile.ts";
import type { DeadLetters } from "./dead-letters.ts";
import { clockTime, printable } from "./terminal.ts";

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
  /** True if the receiver will never accept this lead, although it accepts others. */
  readonly isFinal: boolean;
}

export interface Receiver {
  (lead: Lead): Promise<Outcome>;
  /** Is called at a stop. Without it, a stop waits for the end of the try. */
  readonly onStop?: () => void;
}

/** A try that may succeed later, unless there is advice. */
export function failed(
  why: string,
  { retryAfterMs = 0, advice = "", isFinal = false }: Partial<Failure> = {},
): Failure {
  return { why, retryAfterMs, advice, isFinal };
}

/** The surroundings of a delivery. */
export interface Delivery {
  readonly say: (text: string) => void;
  readonly stop: AbortSignal;
  readonly now: () => number;
  /** The file of permanently rejected leads; null if the program retries until they are accepted. */
  readonly deadLetters: DeadLetters | null;
}

const firstPauseMs = 500;
const maxPauseMs = 60_000;

/**
 * Sends a lead with growing pauses until it is accepted, or until it is a dead letter. Gives advice once for each reason.
 * Returns false if a stop came first, or if the receiver accepts no more leads.
 */
export async function deliver(lead: Lead, receiver: Receiver, delivery: Delivery): Promise<boolean> {
  const { say, stop, now } = delivery;
  const advised = new Set<string>();
  for (let attempts = 1, pauseMs = firstPauseMs; ; attempts++, pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const outcome = await offer(lead, receiver, delivery, attempts);
    if (typeof outcome === "boolean") return outcome;
    if (stop.aborted) return false;
    const waitMs = Math.max(pauseMs, outcome.retryAfterMs);
    const advice = outcome.advice === "" || advised.has(outcome.why) ? "" : ` ${outcome.advice}`;
    advised.add(outcome.why);
    const at = clockTime(now() + waitMs);
    say(`${outcome.why}${advice} Lead ${printable(lead.id)} is tried again in ${waitMs / 1000} s, at ${at}.`);
    await sleep(waitMs, undefined, { signal: stop }).catch(() => undefined); // An abort ends the wait early.
    if (stop.aborted) return false;
  }
}

/** Sends a lead once. A permanently rejected lead counts as delivered once it is in the file of dead letters. */
async function offer(
  lead: Lead,
  receiver: Receiver,
  { say, deadLetters }: Delivery,
  attempts: number,
): Promise<Outcome> {
  const outcome = await receiver(lead);
  if (typeof outcome === "boolean" || deadLetters === null) return outcome;
  if (!outcome.isFinal && attempts < deadLetters.giveUpAfter) return outcome;
  const path = printable(deadLetters.path);
  try {
    await deadLetters.add(lead, outcome.why, attempts);
  } catch (cause) {
    return failed(`${outcome.why} ${path} could not be written (${codeOf(cause) ?? "unknown"}).`);
  }
  say(`${outcome.why} Lead ${printable(lead.id)} was written to ${path}. The next lead follows.`);
  return true;
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
