/** The worker thread for whole files: makes, tests, and restores backups, and applies retention. */
import { explainFailure, innermost } from "../db/failure.ts";
import { applyRetentionAt } from "../privacy/retention.ts";
import { UserError } from "../runtime/user-error.ts";
import { copyDatabase } from "./backup.ts";
import { drillBackup, upgradeCopy } from "./drill.ts";
import { restoreBackup } from "./restore.ts";
import type { Act, Answer, Reply } from "./thread.ts";

declare const self: Worker;

const acts = { applyRetentionAt, copyDatabase, drillBackup, restoreBackup, upgradeCopy } satisfies Record<Act, unknown>;

self.onmessage = async ({ data: [act, request] }: MessageEvent<[Act, { readonly path?: string }]>) => {
  // The main thread sends each act the request that its function takes.
  const run = acts[act] as (request: unknown, main: unknown) => unknown;
  const reply = await Promise.try(run, request, main).then(
    (result) => ({ result }),
    (cause) => failed(cause, request.path),
  );
  self.postMessage(reply satisfies Reply);
};

/** The functions of the main thread. Each call is sent as a message, and waits for the answer. */
const main = new Proxy(
  {},
  {
    get:
      (_, name) =>
      (...args: readonly unknown[]) =>
        call(String(name), args),
  },
);

function call(name: string, args: readonly unknown[]): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  self.onmessage = ({ data }: MessageEvent<Answer>) =>
    "refusal" in data ? reject(new UserError(...data.refusal)) : resolve(data.value);
  self.postMessage({ call: name, args } satisfies Reply);
  return promise;
}

function failed(cause: unknown, path = "the database"): Reply {
  const failure = explainFailure(cause, path);
  return failure instanceof UserError
    ? { refusal: [failure.message, failure.advice] }
    : { failure: innermost(failure) };
}
