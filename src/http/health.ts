/** GET /healthz: whether the server can read its database, for a watchdog or a load balancer. */
import type { ReadStore } from "../store.ts";

export function answerHealth(store: ReadStore): { status: number; body: string } {
  try {
    store.probe();
    return { status: 200, body: `{"status":"ok"}` };
  } catch {
    return { status: 503, body: `{"status":"failing"}` };
  }
}
