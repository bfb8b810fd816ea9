/** GET /metrics: counts and times for Prometheus, by route and status, and the sizes of what can grow. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { isLoopback } from "../../config/origin.ts";
import { paths, publicPaths } from "../../contract/paths.ts";
import type { Limiter } from "../../limiter.ts";
import type { ReadStore } from "../../store/reading.ts";

export interface Metrics {
  /** Counts an answer; `code` is that of an error, or empty. */
  count(path: string, status: number, code: string, microseconds: number): void;
  /** All of it in the text format of Prometheus, and the media type of that. */
  write(): Promise<{ readonly text: string; readonly mediaType: string }>;
}

/** Known routes alone are counted by name: unknown paths must not make the counts grow. */
const routes: ReadonlySet<string> = new Set([...Object.values(paths), ...Object.values(publicPaths)]);

/** The upper ends of the classes of time, in seconds. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

/** What waits for its import, as of now. */
export interface Inflow {
  /** The size of the deliveries that wait. */
  readonly spoolBytes: number;
  /** How many files nobody could read. */
  readonly failedFiles: number;
}

export interface MetricsParts {
  readonly limiter: Limiter;
  readonly store: Pick<ReadStore, "sizes">;
  readonly inflow: () => Inflow;
  readonly now: () => number;
}

export function createMetrics(parts: MetricsParts): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "leadfile_requests_total",
    help: "Requests answered, by route, status and error code.",
    labelNames: ["route", "status", "code"],
    registers,
  });
  const seconds = new Histogram({
    name: "leadfile_request_seconds",
    help: "Time from a request's arrival to its answer, by route.",
    labelNames: ["route"],
    buckets,
    registers,
  });
  addGauges(registers, parts);
  return {
    count(path, status, code, microseconds) {
      const route = routes.has(path) ? path : "other";
      requests.inc({ route, status, code });
      seconds.observe({ route }, microseconds / 1e6);
    },
    async write() {
      return { text: await registry.metrics(), mediaType: registry.contentType };
    },
  };
}

function addGauges(registers: Registry[], { limiter, store, inflow, now }: MetricsParts): void {
  /** A metric whose reading is null is left out. */
  const gauge = (name: string, help: string, read: () => number | null) =>
    new Gauge({
      name,
      help,
      registers,
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
}

/** The address of a request's client. */
export type AddressOf = (request: Request) => string | undefined;

/** Whether a request comes from this very machine, and not by way of a proxy on it. */
export function isFromHere(address: string | undefined, headers: Headers): boolean {
  const isHere = address !== undefined && isLoopback(address);
  return isHere && !headers.has("x-forwarded-for") && !headers.has("forwarded");
}
