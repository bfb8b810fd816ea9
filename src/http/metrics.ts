/** GET /metrics: counts and times for Prometheus, by route and status, and the sizes of what can grow. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { paths } from "../contract/limits.ts";
import type { Limiter } from "../limiter.ts";
import type { ReadStore } from "../store.ts";

export interface Metrics {
  /** Counts an answer; `code` is that of an error, or empty. */
  count(path: string, status: number, code: string, microseconds: number): void;
  /** All of it in the text format of Prometheus. */
  write(): Promise<string>;
  readonly contentType: string;
}

/** Routes are few; what is asked for besides must not make the counts grow. */
const routes: ReadonlySet<string> = new Set([
  ...Object.values(paths),
  "/",
  "/docs",
  "/openapi.json",
  "/healthz",
  "/metrics",
]);

export function createMetrics(limiter: Limiter, store: Pick<ReadStore, "sizes">): Metrics {
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
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1],
    registers,
  });
  gauge("leadfile_database_bytes", "Size of the database file.", () => store.sizes().fileBytes);
  gauge("leadfile_wal_bytes", "Size of the write-ahead log beside it.", () => store.sizes().logBytes);
  gauge("leadfile_leads", "Leads in the database, as of a minute ago at most.", () => store.sizes().leads);
  gauge("leadfile_limiter_keys", "Keys that called in the current minute.", () => limiter.size());

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }

  // Finding the series of a route, status and code costs more than counting in it.
  const series = new Map<string, { count: () => void; observe: (seconds: number) => void }>();
  function seriesOf(route: string, status: number, code: string) {
    const name = `${status} ${route} ${code}`;
    let found = series.get(name);
    if (found === undefined) {
      const counter = requests.labels(route, String(status), code);
      const histogram = seconds.labels(route);
      found = { count: () => counter.inc(), observe: (value) => histogram.observe(value) };
      series.set(name, found);
    }
    return found;
  }

  return {
    count(path, status, code, microseconds) {
      const { count, observe } = seriesOf(routes.has(path) ? path : "other", status, code);
      count();
      observe(microseconds / 1e6);
    },
    write: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** The address of a request's client. */
export type AddressOf = (request: Request) => string | undefined;

/** Whether a request comes from this very machine, and not by way of a proxy on it. */
export function isFromHere(address: string | undefined, headers: Headers): boolean {
  const loopback = address !== undefined && /^(?:127\.|::1$|::ffff:127\.)/.test(address);
  return loopback && !headers.has("x-forwarded-for") && !headers.has("forwarded");
}
