/** The thread in which backups are made, tested, and restored. */
import { explainFailure, innermost } from "../db/failure.ts";
import { UserError } from "../user-error.ts";
import { copyDatabase } from "./backup.ts";
import { drillBackup } from "./drill.ts";
import { restoreBackup } from "./restore.ts";
import { type Act, createQuestion, type Reply, type Verdict } from "./thread.ts";
import { upgradeCopy } from "./upgrade.ts";

declare const self: Worker;

const acts = { copyDatabase, drillBackup, restoreBackup, upgradeCopy } satisfies Record<Act, unknown>;

self.onmessage = ({ data: [act, request, verdict] }: MessageEvent<[Act, unknown, Verdict]>) => {
  const ask = createQuestion(verdict, (question) => self.postMessage({ question } satisfies Reply));
  // The main thread sends each act the request that its function takes.
  const run = acts[act] as (request: unknown, ask: (question: unknown) => void) => unknown;
  self.postMessage(replyOf(() => run(request, ask)));
};

function replyOf(work: () => unknown): Reply {
  try {
    return { result: work() };
  } catch (cause) {
    const failure = explainFailure(cause, "the database");
    return failure instanceof UserError
      ? { refusal: [failure.message, failure.advice] }
      : { failure: innermost(failure) };
  }
}
