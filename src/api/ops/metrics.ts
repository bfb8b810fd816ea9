/** The metrics of GET /metrics: what was answered, and the sizes of what can grow, for Prometheus. */
import { existsSync, readdirSync } from "node:fs";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { isLoopback } from "../../config.ts";
import { paths } from "../../contract/paths.ts";
import type { Limiter } from "../../limiter.ts";
import type { RequestStore } from "../../store/serving.ts";

/** Deliveries that are not imported yet. */
export interface Inflow {
  readonly spoolBytes: number;
  /** How many files could not be read. */
  readonly failedFiles: number;
}

interface Sources {
  readonly limiter: Limiter;
  readonly store: RequestStore;
  readonly now: () => number;
  readonly inflow: () => Inflow;
}

/** The upper bounds of the buckets, in seconds. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

export type RequestMetrics = ReturnType<typeof addRequestMetrics>;

/** Adds the counts of answers, and the times that they took. */
export function addRequestMetrics(registry: Registry) {
  const requests = new Counter({
    name: "leadfile_requests_total",
    help: "Requests answered, by route, status and error code.",
    labelNames: ["route", "status", "code"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "leadfile_request_seconds",
    help: "Time from a request's arrival to its answer, by route.",
    labelNames: ["route"],
    buckets,
    registers: [registry],
  });
  // These begin at 0. Prometheus sees no growth in a counter that first appears as 1: an alert would miss the first failure.
  for (const route of Object.values(paths)) {
    for (const code of ["internal_error", "query_failed"]) requests.inc({ route, status: 500, code }, 0);
  }
  return { requests, seconds };
}

/** Adds the sizes of what can grow. They are read at each request for the metrics. */
export function addSizeMetrics(registry: Registry, { limiter, store, inflow, now }: Sources): void {
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
  gauge("leadfile_wal_bytes", "Size of its write-ahead log.", () => store.sizes().logBytes);
  gauge("leadfile_leads", "Leads in the database, as of a minute ago at most.", () => store.sizes().leads);
  gauge("leadfile_limiter_keys", "Keys that called in the current minute.", () => limiter.size());
  gauge("leadfile_last_import_age_seconds", "Time since the last import that added leads.", () => {
    const { lastImportMs } = store.sizes();
    return lastImportMs === null ? null : (now() - lastImportMs) / 1000;
  });
  gauge("leadfile_spool_bytes", "Deliveries that are not imported yet.", () => inflow().spoolBytes);
  gauge("leadfile_failed_files", "Files in failed/, which could not be read.", () => inflow().failedFiles);
  // By the names that dashboards know. The library's own come with sixty about Node.js, which say nothing of Bun.
  gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  gauge("process_start_time_seconds", "When the process started.", () => performance.timeOrigin / 1000);
  // Reading the folder opens it, which counts as one more.
  gauge("process_open_fds", "Open files and connections.", () =>
    existsSync(openFiles) ? readdirSync(openFiles).length - 1 : null,
  );
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of the process.",
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

/** What proxies add to a request. Some add one of these alone. */
const addedByProxies = ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"];

/**
 * Whether a request comes from this very machine: from a loopback address, for a loopback host, and not through a proxy.
 * A web page that a browser on this machine has open can send requests from here, but only for the host of that page.
 */
export function isFromThisMachine(address: string | undefined, headers: Headers): boolean {
  const host = headers.get("host")?.replace(/:\d*$/, "") ?? "";
  if (address === undefined || !isLoopback(address) || !isLoopback(host)) return false;
  return !addedByProxies.some((name) => headers.has(name));
}
