/** A receiver of followed leads, and how a lead that it did not take is offered again. */

import { sleepUnlessStopped } from "../../../src/cli/terminal/signals.ts";
import { printable } from "../../../src/operator/printable.ts";
import type { Lead } from "../src/leadfile.ts";

/** What became of one try. A lead that was not taken is offered again. */
export type Outcome =
  | { readonly kind: "taken" }
  /** Nobody takes leads any more, such as `head` after its last line. */
  | { readonly kind: "gone" }
  | Failure;

interface Failure {
  readonly kind: "failed";
  /** A sentence without personal data. */
  readonly why: string;
  /** How long the other side asks to wait; 0 where it does not. */
  readonly retryAfterMs: number;
  /** What a person is to do where waiting will hardly help; else empty. */
  readonly advice: string;
}

export interface Receiver {
  /** Offers one lead. A stop may end the try only while nothing of the lead was taken. */
  take(lead: Lead, stop: AbortSignal): Promise<Outcome>;
}

export const taken: Outcome = { kind: "taken" };

/** A try that may succeed later, unless there is advice. */
export function failed(why: string, { retryAfterMs = 0, advice = "" }: Partial<Failure> = {}): Failure {
  return { kind: "failed", why, retryAfterMs, advice };
}

const firstPauseMs = 500;
const longestPauseMs = 60_000;

/**
 * Offers a lead until it is taken, with growing pauses. Advice is said once for each reason. False when a stop came
 * first, or nobody takes leads any more.
 */
export async function deliver(
  lead: Lead,
  receiver: Receiver,
  say: (text: string) => void,
  stop: AbortSignal,
): Promise<boolean> {
  const advised = new Set<string>();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const outcome = await receiver.take(lead, stop);
    if (outcome.kind !== "failed") return outcome.kind === "taken";
    const waitMs = Math.max(pauseMs, outcome.retryAfterMs);
    if (stop.aborted) return false;
    const advice = outcome.advice === "" || advised.has(outcome.why) ? "" : ` ${outcome.advice}`;
    advised.add(outcome.why);
    say(`${outcome.why}${advice} Lead ${printable(lead.id)} is tried again in ${waitMs / 1000} s.`);
    await sleepUnlessStopped(waitMs, stop);
    if (stop.aborted) return false;
  }
}
