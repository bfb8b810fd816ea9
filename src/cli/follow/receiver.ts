/** A receiver of followed leads, and how a lead that it did not take is offered again. */
import type { Lead } from "../../../client/src/leadfile.ts";
import { sleepUnlessStopped } from "../terminal/signals.ts";

/** What became of one try. A lead that was not taken is offered again. */
export type Outcome =
  | { readonly kind: "taken" }
  /** Nobody takes leads any more, such as `head` after its last line. */
  | { readonly kind: "gone" }
  /** `why` is a sentence without personal data; the other side may ask for a pause. */
  | { readonly kind: "failed"; readonly why: string; readonly retryAfterMs: number };

export interface Receiver {
  /** Offers one lead. A stop may end the try only while nothing of the lead was taken. */
  take(lead: Lead, stop: AbortSignal): Promise<Outcome>;
}

export const taken: Outcome = { kind: "taken" };

/** The receiver asks for a pause of so long, or for none. */
export function failed(why: string, retryAfterMs = 0): Outcome {
  return { kind: "failed", why, retryAfterMs };
}

const firstPauseMs = 500;
const longestPauseMs = 60_000;

/** Offers a lead until it is taken, with growing pauses. False when a stop came first, or nobody takes leads any more. */
export async function deliver(
  lead: Lead,
  receiver: Receiver,
  say: (text: string) => void,
  stop: AbortSignal,
): Promise<boolean> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const outcome = await receiver.take(lead, stop);
    if (outcome.kind !== "failed") return outcome.kind === "taken";
    const waitMs = Math.max(pauseMs, outcome.retryAfterMs);
    if (stop.aborted) return false;
    say(`${outcome.why} Lead ${lead.id} is tried again in ${waitMs / 1000} s.`);
    await sleepUnlessStopped(waitMs, stop);
    if (stop.aborted) return false;
  }
}
