/** Retention in a thread of its own, for the server. */
import { filesOf } from "../../store/database-files.ts";
import type { Retained } from "../../store/serving.ts";
import type { Descriptors } from "../file.ts";

export interface RetentionWork {
  readonly path: string;
  readonly nowMs: number;
  /** Whether the clock was set while the server ran. */
  readonly hasJumped: boolean;
  /** By path: a descriptor that the thread closed would drop the locks of the server. */
  readonly descriptors: Readonly<Record<string, number | null>>;
}

export type RetentionReply =
  | { readonly erased: number; readonly gone: boolean }
  | { readonly waitsUntilMs: number }
  | { readonly failure: string };

/** Erases, unless the clock may be wrong. Throws when that fails, and when bytes of the erased are still there. */
export async function applyRetentionInWorker(
  path: string,
  find: Descriptors,
  nowMs: number,
  hasJumped: boolean,
): Promise<Retained> {
  const worker = new Worker(new URL("./retention-worker.ts", import.meta.url));
  try {
    const descriptors = Object.fromEntries(filesOf(path).map((part) => [part, find(part)]));
    const reply = await new Promise<RetentionReply>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<RetentionReply>) => resolve(data);
      worker.onerror = ({ message }) => resolve({ failure: message });
      worker.postMessage({ path, nowMs, hasJumped, descriptors } satisfies RetentionWork);
    });
    if ("failure" in reply) throw new Error(reply.failure);
    if ("waitsUntilMs" in reply) return { erased: 0, waitsUntilMs: reply.waitsUntilMs };
    if (!reply.gone) throw new Error("another program keeps reading what was erased; it is tried again");
    return { erased: reply.erased, waitsUntilMs: null };
  } finally {
    worker.terminate();
  }
}
