/** GET /healthz: whether the server can read its database, for a watchdog or a load balancer. */
import type { ReadStore } from "../../store/reading.ts";
import { build } from "../../version.ts";
import type { PublicAnswer } from "../app-parts.ts";

const headers = { "Content-Type": "application/json", "Cache-Control": "no-store" };

/** Answers 503 while the database cannot be read. */
export function answerHealth(store: ReadStore): PublicAnswer {
  try {
    store.probe();
    return { status: 200, body: JSON.stringify({ status: "ok", version: build }), headers };
  } catch {
    return { status: 503, body: JSON.stringify({ status: "failing", version: build }), headers };
  }
}
