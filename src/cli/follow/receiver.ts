/** Whoever gets followed leads, and how a lead that was not taken is handed over again. */
import type { Lead } from "../../../client/src/leadfile.ts";
import { rest } from "../terminal/signals.ts";

/** What became of one try: only a lead that was taken is never handed over again. */
export type Taking =
  | { readonly kind: "taken" }
  /** Nobody will ever take another lead, as behind head. */
  | { readonly kind: "gone" }
  /** `why` is a sentence without personal data; the other side may ask for a pause. */
  | { readonly kind: "failed"; readonly why: string; readonly retryAfterMs: number };

export interface Receiver {
  /** Hands one lead over. A stop may cut it short only where nothing was taken yet. */
  take(lead: Lead, stop: AbortSignal): Promise<Taking>;
}

export const taken: Taking = { kind: "taken" };

const firstPauseMs = 500;
const longestPauseMs = 60_000;

/** Hands a lead over until it is taken, with growing pauses; false where it was not, at a stop or for want of a taker. */
export async function deliver(
  lead: Lead,
  receiver: Receiver,
  say: (text: string) => void,
  stop: AbortSignal,
): Promise<boolean> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const taking = await receiver.take(lead, stop);
    if (taking.kind !== "failed") return taking.kind === "taken";
    const waitMs = Math.max(pauseMs, taking.retryAfterMs);
    if (stop.aborted) return false;
    say(`${taking.why} Lead ${lead.id} is handed over again in ${waitMs / 1000} s.`);
    await rest(waitMs, stop);
    if (stop.aborted) return false;
  }
}
