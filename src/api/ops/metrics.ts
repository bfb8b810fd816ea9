/** The metrics of GET /metrics, for Prometheus: responses, and the sizes of everything that can grow. */
import { existsSync, readdirSync } from "node:fs";
import { Counter, Gauge, Registry } from "prom-client";
import type { Limiter } from "../limiter.ts";
import type { RequestStore } from "../request-store.ts";
import { addResponseMetrics } from "./response-metrics.ts";

/** Deliveries that are not imported yet. */
export interface Inflow {
  readonly spoolBytes: number;
  /** Files in the inbox that are not imported yet. */
  readonly waitingFiles: Counted;
  readonly failedFiles: Counted;
  readonly rejectedRows: Counted;
}

/** A number of things, and the time of the oldest, in Unix milliseconds. */
interface Counted {
  readonly count: number;
  readonly sinceMs: number | null;
}

export interface MetricSources {
  readonly limiter: Limiter;
  readonly store: RequestStore;
  readonly now: () => number;
  /** Null if this server takes no deliveries. */
  readonly inflow: () => Inflow | null;
  /** The time at which the certificate of TLS_CERT expires; null without one. */
  readonly certificateEndsMs?: number | null;
}

/** The seconds from one time to another; null if either is unknown. */
function secondsFrom(fromMs: number | null | undefined, toMs: number | null | undefined): number | null {
  return fromMs == null || toMs == null ? null : (toMs - fromMs) / 1000;
}

/** Creates the metrics of a server. */
export function createMetrics(sources: MetricSources) {
  const registry = new Registry();
  addSizeMetrics(registry, sources);
  return { registry, countResponse: addResponseMetrics(registry) };
}

/** Adds a gauge to a registry. A metric whose reading is null is left out. */
function createGauge(registry: Registry) {
  return (name: string, help: string, read: () => number | null) =>
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
}

/** Adds what the operator must see before it fails: backups, expiries, the clock, and the disk. */
function addUpkeepMetrics(
  gauge: ReturnType<typeof createGauge>,
  { store, now, certificateEndsMs }: MetricSources,
): void {
  gauge("leadfile_last_backup_age_seconds", "Time since the last stored backup that was verified.", () =>
    secondsFrom(store.sizes(now()).lastBackup?.atMs, now()),
  );
  gauge("leadfile_last_backup_bytes", "Size of the last backup.", () => store.sizes(now()).lastBackup?.bytes ?? null);
  gauge("leadfile_next_key_expiry_seconds", "Time until the next key expires; negative if one has.", () =>
    secondsFrom(now(), store.sizes(now()).nextKeyExpiryMs),
  );
  gauge("leadfile_certificate_expiry_seconds", "Time until the certificate of TLS_CERT expires.", () =>
    secondsFrom(now(), certificateEndsMs),
  );
  gauge("leadfile_clock_behind_seconds", "How far the clock is behind the newest lead.", () => {
    const ahead = secondsFrom(now(), store.sizes(now()).newestLeadMs);
    return ahead === null ? null : Math.max(0, ahead);
  });
  gauge("leadfile_disk_free_bytes", "Free space on the disk of the database.", () => store.sizes(now()).freeBytes);
}

/** Adds the sizes of what can grow. They are read at each request for the metrics. */
function addSizeMetrics(registry: Registry, sources: MetricSources): void {
  const { limiter, store, inflow, now } = sources;
  const gauge = createGauge(registry);
  addUpkeepMetrics(gauge, sources);
  for (const { name, help, read } of store.gauges ?? []) gauge(name, help, read);
  gauge("leadfile_database_bytes", "Size of the database file.", () => store.sizes(now()).fileBytes);
  gauge("leadfile_wal_bytes", "Size of the write-ahead log of the database.", () => store.sizes(now()).logBytes);
  gauge("leadfile_leads", "Leads in the database, as of a minute ago at most.", () => store.sizes(now()).leads);
  gauge("leadfile_limiter_keys", "Keys that called in the current minute.", () => limiter.size());
  gauge("leadfile_last_import_age_seconds", "Time since the last import that added leads.", () =>
    secondsFrom(store.sizes(now()).lastImportMs, now()),
  );
  gauge("leadfile_spool_bytes", "Deliveries that are not imported yet.", () => inflow()?.spoolBytes ?? 0);
  /** A count, and the age of the oldest. */
  const pile = (name: string, unit: string, help: string, counted: "waitingFiles" | "failedFiles" | "rejectedRows") => {
    gauge(`leadfile_${name}_${unit}`, help, () => inflow()?.[counted].count ?? 0);
    gauge(`leadfile_${name}_age_seconds`, `Age of the oldest of leadfile_${name}_${unit}; 0 if there is none.`, () =>
      Math.max(0, secondsFrom(inflow()?.[counted].sinceMs, now()) ?? 0),
    );
  };
  pile("waiting", "files", "Files in the inbox that are not imported yet.", "waitingFiles");
  pile("failed", "files", "Files in failed/, which could not be read.", "failedFiles");
  pile("rejected", "rows", "Rows in rejected/.", "rejectedRows");
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

/** The folder of the open files of this process, which only Linux has. */
const openFiles = "/proc/self/fd";
