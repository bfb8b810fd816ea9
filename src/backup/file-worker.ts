/** The thread for work on whole files: backups are made, tested, listed, and restored in it, and retention is applied. */
import { explainFailure, innermost } from "../db/failure.ts";
import { applyRetentionAt } from "../privacy/retention.ts";
import { UserError } from "../runtime/user-error.ts";
import { copyDatabase } from "./backup.ts";
import { drillBackup, upgradeCopy } from "./drill.ts";
import { listPlace } from "./places.ts";
import { restoreBackup } from "./restore.ts";
import type { Act, Ask, Reply } from "./thread.ts";

declare const self: Worker;

const acts = { applyRetentionAt, copyDatabase, drillBackup, listPlace, restoreBackup, upgradeCopy } satisfies Record<
  Act,
  unknown
>;

self.onmessage = async ({ data: [act, request] }: MessageEvent<[Act, { readonly path?: string }]>) => {
  // The main thread sends each act the request that its function takes.
  const run = acts[act] as (request: unknown, ask: Ask<unknown>) => unknown;
  const reply = await Promise.try(run, request, ask).then(
    (result) => ({ result }),
    (cause) => failed(cause, request.path),
  );
  self.postMessage(reply satisfies Reply);
};

const ask: Ask<unknown> = (question) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  self.onmessage = () => resolve();
  self.postMessage({ question } satisfies Reply);
  return promise;
};

function failed(cause: unknown, path = "the database"): Reply {
  const failure = explainFailure(cause, path);
  return failure instanceof UserError
    ? { refusal: [failure.message, failure.advice] }
    : { failure: innermost(failure) };
}
