/** GET /healthz: whether the server can read its database, for a watchdog or a load balancer. */
import type { ReadStore } from "../../store/reading.ts";

const headers = { "Content-Type": "application/json", "Cache-Control": "no-store" };

/** Status, body and headers of the answer: 503 while the database cannot be read. */
export function answerHealth(store: ReadStore): [status: number, body: string, headers: Record<string, string>] {
  try {
    store.probe();
    return [200, `{"status":"ok"}`, headers];
  } catch {
    return [503, `{"status":"failing"}`, headers];
  }
}
