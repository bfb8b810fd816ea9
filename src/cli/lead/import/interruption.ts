/** Ends an import in order after a signal, and says what that means. */

import type { MergeProgress } from "../../../import/staged-import.ts";
import { type EndingSignal, onEndingSignal, statusAfter } from "../../../process.ts";
import { adminCommand } from "../../../program-name.ts";
import { UserError } from "../../../user-error.ts";
import { grouped, leadsText } from "../../terminal/numbers.ts";

/** The end of an import after a signal. */
export type Interruption = ReturnType<typeof watchInterruption>;

/** Listens for a signal until it is closed: from then on a signal ends the process again. */
export function watchInterruption() {
  const { promise: came, resolve } = Promise.withResolvers<{ readonly signal: EndingSignal }>();
  let signal: EndingSignal | null = null;
  const close = onEndingSignal((first) => {
    signal ??= first;
    resolve({ signal });
  });
  return {
    /** Waits for the reading, or for an answer. Throws a UserError as soon as a signal comes. */
    async beforeWriting<Result>(work: Promise<Result>): Promise<Result> {
      const first = await Promise.race([work.then((result) => ({ result })), came]);
      if ("result" in first) return first.result;
      throw new UserError(
        "Stopped before the first lead was written. Nothing was imported.",
        "",
        statusAfter[first.signal],
      );
    },
    isRequested: (): boolean => signal !== null,
    /** Must be called after each step of the writing. Throws a UserError if a signal has come. */
    afterStep(step: MergeProgress, total: number): void {
      if (signal === null || step.done === total) return;
      throw new UserError(
        `Stopped after ${grouped(step.done)} of ${grouped(total)} leads, which stay.`,
        `Run the command again to complete it${wayBack(step)}.`,
        statusAfter[signal],
      );
    },
    close,
  };
}

function wayBack({ batch, overwritten }: MergeProgress): string {
  if (batch === null) return "; no lead was new so far";
  if (overwritten === 0) return `, or remove them with ${adminCommand} import undo`;
  return `. It replaced ${leadsText(overwritten)} of other imports and cannot be undone`;
}

/** Never interrupts. */
export const goOn: Interruption = {
  beforeWriting: (work) => work,
  isRequested: () => false,
  afterStep: () => undefined,
  close: () => undefined,
};
