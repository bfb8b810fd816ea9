/** An import in a thread of its own: while one group of leads is written, the next one is read and made ready. */
import { Refusal } from "../refusal.ts";
import type { ImportOptions, ImportOutcome, LeadImportAside, NewLead } from "../store/imports.ts";
import type { AccountNumber } from "../store/serving.ts";

export interface Begin {
  readonly path: string;
  readonly account: AccountNumber;
  readonly options: ImportOptions;
}

/** One text instead of many objects: that is what threads hand over fastest. */
export interface Group {
  readonly leads: string;
  readonly nowMs: number;
}

export type Reply = { readonly outcomes: ImportOutcome[] } | { readonly failure: string };

export function beginImportAside(begin: Begin): LeadImportAside {
  const worker = new Worker(new URL("./import-worker.ts", import.meta.url));
  const waiting: PromiseWithResolvers<ImportOutcome[]>[] = [];
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    const asked = waiting.shift();
    if ("outcomes" in data) asked?.resolve(data.outcomes);
    else asked?.reject(failed(data.failure));
  };
  worker.onerror = ({ message }) => waiting.shift()?.reject(failed(message));
  worker.postMessage(begin);
  return {
    write(leads: readonly NewLead[], nowMs: number) {
      const asked = Promise.withResolvers<ImportOutcome[]>();
      waiting.push(asked);
      worker.postMessage({ leads: JSON.stringify(leads), nowMs } satisfies Group);
      return asked.promise;
    },
    close: () => worker.terminate(),
  };
}

function failed(said: string): Refusal {
  return new Refusal(
    `The import was cut short (${said}).`,
    "What was imported until then is in; mend the cause, run it again, and it completes.",
  );
}
