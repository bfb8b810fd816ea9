/** Ctrl-C while an import runs: it ends in order, and says what that means. */
import { adminCommand } from "../../../operator/program-name.ts";
import { UserError } from "../../../operator/user-error.ts";
import type { MergeProgress } from "../../../store/imports.ts";
import { grouped, leadsText } from "../../terminal/numbers.ts";

export interface Interruption {
  /** Waits for the reading, or for an answer, and throws a UserError as soon as Ctrl-C comes. */
  beforeWriting<Result>(work: Promise<Result>): Promise<Result>;
  /** To be called after each step of the writing; throws a UserError when Ctrl-C has come. */
  afterStep(step: MergeProgress, total: number): void;
  /** From then on Ctrl-C ends the process again. */
  close(): void;
}

export function watchInterruption(): Interruption {
  const { promise: came, resolve } = Promise.withResolvers<"interrupted">();
  let hasCome = false;
  const listener = () => {
    hasCome = true;
    resolve("interrupted");
  };
  process.on("SIGINT", listener);
  return {
    async beforeWriting(work) {
      const first = await Promise.race([work.then((result) => ({ result })), came]);
      if (first !== "interrupted") return first.result;
      throw new UserError("Stopped before the first lead: nothing of it was imported, and nothing is left.", "", 130);
    },
    afterStep(step, total) {
      if (!hasCome || step.done === total) return;
      throw new UserError(
        `Stopped after ${grouped(step.done)} of ${grouped(total)} leads, which stay.`,
        `Run it again, and it completes${wayBack(step)}.`,
        130,
      );
    },
    close: () => void process.off("SIGINT", listener),
  };
}

function wayBack({ batch, overwritten }: MergeProgress): string {
  if (batch === null) return "; nothing of it was new so far";
  if (overwritten === 0) return `; ${adminCommand} import undo takes them back`;
  return `. It replaced ${leadsText(overwritten)} of other imports, and cannot be taken back`;
}

/** Nothing interrupts. */
export const goOn: Interruption = {
  beforeWriting: (work) => work,
  afterStep: () => undefined,
  close: () => undefined,
};
