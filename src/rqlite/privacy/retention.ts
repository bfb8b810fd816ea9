/** Retention for a server of a cluster, in a thread of its own. Several servers may be at it: each deletes what is left. */
import type { Retained } from "../../store/serving.ts";
import type { RetentionDone, RetentionErrand } from "./cluster-retention-worker.ts";

export async function applyClusterRetention(errand: RetentionErrand): Promise<Retained> {
  const worker = new Worker(new URL("./cluster-retention-worker.ts", import.meta.url));
  try {
    const done = await new Promise<RetentionDone>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<RetentionDone>) => resolve(data);
      worker.onerror = ({ message }) => resolve({ failure: message });
      worker.postMessage(errand);
    });
    if ("failure" in done) throw new Error(done.failure);
    return done;
  } finally {
    worker.terminate();
  }
}
