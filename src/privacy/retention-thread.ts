/** Retention of a server, in a thread of its own: deleting and looking for bytes must hold up no request. */

import type { Connection } from "../db/connection.ts";
import { innermost } from "../db/failure.ts";
import type { Descriptors } from "../db/file.ts";
import type { Retained } from "../db/serving.ts";
import { filesOf } from "../store/database-files.ts";
import { isRetentionDue } from "./retention.ts";
import { wasSetBack } from "./retention-hold.ts";

/** When a thread applies retention. */
export interface RetentionMoment {
  readonly nowMs: number;
  /** Whether the clock was set while the server ran. */
  readonly hasJumped: boolean;
}

/** What the thread for the one file is handed. */
export interface RetentionWork extends RetentionMoment {
  readonly path: string;
  /** By path: a descriptor that the thread closed would drop the locks of the server. */
  readonly descriptors: Readonly<Record<string, number | null>>;
}

/** What a thread says when it has ended its work. */
export type RetentionReply = Retained | { readonly failure: string };

/**
 * Erases what is older than its account keeps, where there is any, unless the clock may be wrong. `start` starts the
 * thread and hands it its work. Throws when that fails, and when bytes of the erased are still there.
 */
export async function retainInThread(database: Connection, nowMs: number, start: () => Worker): Promise<Retained> {
  if (!isRetentionDue(database, nowMs) && !wasSetBack(database, nowMs)) return { erased: 0, waitsUntilMs: null };
  const worker = start();
  try {
    const reply = await new Promise<RetentionReply>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<RetentionReply>) => resolve(data);
      worker.onerror = ({ message }) => resolve({ failure: message });
    });
    if ("failure" in reply) throw new Error(reply.failure);
    return reply;
  } finally {
    worker.terminate();
  }
}

/** Starts the thread for the one file. */
export function startRetention(path: string, find: Descriptors, moment: RetentionMoment): Worker {
  const worker = new Worker(new URL("./retention-worker.ts", import.meta.url));
  const descriptors = Object.fromEntries(filesOf(path).map((part) => [part, find(part)]));
  worker.postMessage({ path, descriptors, ...moment } satisfies RetentionWork);
  return worker;
}

/** Does the work of such a thread, and says how it ended. */
export function replyOf(work: () => Retained): RetentionReply {
  try {
    return work();
  } catch (cause) {
    return { failure: innermost(cause) };
  }
}
