/** Applies the retention of a server in a thread of its own: rewriting the file must hold up no request. */
import type { Connection } from "../db/connection.ts";
import { innermost } from "../db/failure.ts";
import { isRetentionDue, type Retained } from "./retention.ts";

/** What the thread for the one file is handed. */
export interface RetentionWork {
  readonly path: string;
  readonly nowMs: number;
  /** Whether the clock was set while the server ran. */
  readonly hasJumped: boolean;
}

type Reply = Retained | { readonly failure: string };

/** Applies retention to the one file, if there is anything to do. Throws if that fails. */
export async function retainInThread(database: Connection, work: RetentionWork): Promise<Retained> {
  if (!isRetentionDue(database, work.nowMs)) return { erased: 0, waitsUntilMs: null };
  return replyOf(new Worker(new URL("./retention-worker.ts", import.meta.url)), work);
}

/** Hands its work to a thread, and ends the thread when it has replied. */
export async function replyOf(worker: Worker, work: object): Promise<Retained> {
  try {
    const reply = await new Promise<Reply>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<Reply>) => resolve(data);
      worker.onerror = ({ message }) => resolve({ failure: message });
      worker.postMessage(work);
    });
    if ("failure" in reply) throw new Error(reply.failure);
    return reply;
  } finally {
    worker.terminate();
  }
}

/** In the thread: does the work that it is handed, and replies how it ended. */
export function answerWith<Work>(self: Worker, retain: (work: Work) => Promise<Retained>): void {
  self.onmessage = async ({ data }: MessageEvent<Work>) => {
    const reply = await retain(data).catch((cause): Reply => ({ failure: innermost(cause) }));
    self.postMessage(reply);
  };
}
