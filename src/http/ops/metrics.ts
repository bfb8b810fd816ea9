/** GET /metrics: the sizes of what can grow, for Prometheus, beside what the access log counts. */
import { Gauge, Registry } from "prom-client";
import { isLoopback } from "../../config/origin.ts";
import type { AppParts } from "../app-parts.ts";

/** Makes the metrics of an instance; they are read when somebody asks for them. */
export function createMetrics({ limiter, store, inflow, now }: AppParts): Registry {
  const registry = new Registry();
  /** A metric whose reading is null is left out. */
  const gauge = (name: string, help: string, read: () => number | null) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const value = read();
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  gauge("leadfile_database_bytes", "Size of the database file.", () => store.sizes().fileBytes);
  gauge("leadfile_wal_bytes", "Size of the write-ahead log beside it.", () => store.sizes().logBytes);
  gauge("leadfile_leads", "Leads in the database, as of a minute ago at most.", () => store.sizes().leads);
  gauge("leadfile_limiter_keys", "Keys that called in the current minute.", () => limiter.size());
  gauge("leadfile_last_import_age_seconds", "Time since the last import that brought leads.", () => {
    const { lastImportMs } = store.sizes();
    return lastImportMs === null ? null : (now() - lastImportMs) / 1000;
  });
  gauge("leadfile_spool_bytes", "Deliveries that wait for their import.", () => inflow().spoolBytes);
  gauge("leadfile_failed_files", "Files in failed/, which nobody could read.", () => inflow().failedFiles);
  return registry;
}

/** Whether a request comes from this very machine, and not by way of a proxy on it. */
export function isFromHere(address: string | undefined, headers: Headers): boolean {
  const isHere = address !== undefined && isLoopback(address);
  return isHere && !headers.has("x-forwarded-for") && !headers.has("forwarded");
}
