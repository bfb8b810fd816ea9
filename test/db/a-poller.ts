/** A client that polls, on a store itself. */
import type { Lead } from "../../src/contract/lead.ts";
import type { openServedStore } from "../../src/served-store.ts";

/** A client that polls as the README says: since the newest it has seen, all pages, known ids dropped. */
export function aPoller(served: ReturnType<typeof openServedStore>, account: number) {
  const seen = new Set<string>();
  let sinceMs: number | null = null;
  return {
    seen,
    poll() {
      let newest = sinceMs;
      for (let beforeMs: number | null = null, more = true; more; ) {
        const query = { limit: 100, beforeMs, sinceMs, pixel_id: null, state: null, city: null, has_email: false };
        const { documents, nextMs } = served.leads.page(account, query);
        for (const document of documents) {
          const lead: Lead = JSON.parse(Buffer.from(document).toString());
          seen.add(lead.id);
          newest = Math.max(newest ?? Number.NEGATIVE_INFINITY, Date.parse(lead.identified_at));
        }
        beforeMs = nextMs;
        more = nextMs !== null;
      }
      sinceMs = newest;
    },
  };
}
