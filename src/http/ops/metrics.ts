/** GET /metrics: what was answered, and the sizes of what can grow, for Prometheus. */
import { existsSync, readdirSync } from "node:fs";
import { Counter, Gauge, type Registry } from "prom-client";
import { isLoopback } from "../../config/origin.ts";
import { ApiError } from "../../contract/errors.ts";
import type { AppParts } from "../app-parts.ts";

/** Adds the sizes of what can grow; they are read when somebody asks for them. */
export function addSizeMetrics(registry: Registry, { limiter, store, inflow, now }: AppParts): void {
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
  // By the names that dashboards know. The library's own come with sixty about Node.js, which say nothing of Bun.
  gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  gauge("process_start_time_seconds", "When the process began.", () => performance.timeOrigin / 1000);
  // The look has the folder itself open.
  gauge("process_open_fds", "Open files and connections.", () =>
    existsSync(openFiles) ? readdirSync(openFiles).length - 1 : null,
  );
  new Counter({
    name: "process_cpu_seconds_total",
    help: "Time of the processors.",
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
}

/** Only Linux has it. */
const openFiles = "/proc/self/fd";

/** Status, body and headers of the answer. Throws not_found for another machine, unless the metrics are for all. */
export async function answerMetrics(
  request: Request,
  { publicMetrics, addressOf }: AppParts,
  registry: Registry,
): Promise<[status: number, body: string, headers: Record<string, string>]> {
  if (!publicMetrics && !isFromHere(addressOf(request), request.headers)) {
    throw new ApiError("not_found", "This path is for the machine itself; METRICS=public opens it to others.");
  }
  const headers = { "Content-Type": registry.contentType, "Cache-Control": "no-store" };
  return [200, await registry.metrics(), headers];
}

/** What proxies add to a request. Some add one of these alone. */
const addedByProxies = ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"];

/** Whether a request comes from this very machine, and not by way of a proxy on it. */
export function isFromHere(address: string | undefined, headers: Headers): boolean {
  const isHere = address !== undefined && isLoopback(address);
  return isHere && !addedByProxies.some((name) => headers.has(name));
}
