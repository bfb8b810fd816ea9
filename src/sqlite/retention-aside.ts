/** Retention in a thread of its own, for the server. */
import { keptDescriptor, partsOf } from "./file.ts";

export interface RetentionWork {
  readonly path: string;
  readonly nowMs: number;
  /** By path: a descriptor that the thread closed would drop the locks of the server. */
  readonly descriptors: Readonly<Record<string, number | null>>;
}

export type RetentionReply = { readonly erased: number; readonly gone: boolean } | { readonly failure: string };

/** How many leads were erased; throws when that failed, or when their bytes could not be taken out. */
export async function applyRetentionAside(path: string, nowMs: number): Promise<number> {
  const worker = new Worker(new URL("./retention-worker.ts", import.meta.url));
  try {
    const descriptors = Object.fromEntries(partsOf(path).map((part) => [part, keptDescriptor(part)]));
    const reply = await new Promise<RetentionReply>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<RetentionReply>) => resolve(data);
      worker.onerror = ({ message }) => resolve({ failure: message });
      worker.postMessage({ path, nowMs, descriptors } satisfies RetentionWork);
    });
    if ("failure" in reply) throw new Error(reply.failure);
    if (!reply.gone) throw new Error("another program keeps reading what was erased; it is tried again");
    return reply.erased;
  } finally {
    worker.terminate();
  }
}
