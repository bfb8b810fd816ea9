/** GET /metrics: counts and times for Prometheus, by route and status, and the sizes of what can grow. */
import type { Metric, Registry } from "prom-client";
import { paths } from "../../contract/paths.ts";
import type { Limiter } from "../../limiter.ts";
import type { ReadStore } from "../../store/reading.ts";
import { createTally, type Series, type Tally, timeClasses } from "./request-counts.ts";

export interface Metrics {
  /** Counts an answer; `code` is that of an error, or empty. */
  count(path: string, status: number, code: string, microseconds: number): void;
  /** All of it in the text format of Prometheus, and the media type of that. */
  write(): Promise<{ readonly text: string; readonly mediaType: string }>;
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

/** Until then a first start has answered. */
const libraryAfterMs = 1000;

const secondsName = "leadfile_request_seconds";

export function createMetrics(limiter: Limiter, store: Pick<ReadStore, "sizes">): Metrics {
  const tally = createTally();
  let registry: Promise<Registry> | null = null;
  const open = () => (registry ??= openRegistry(tally, limiter, store));
  // Not at the start, a tenth of which it took, and not when somebody asks: there may be no descriptor left to load it.
  setTimeout(() => void open().catch(() => undefined), libraryAfterMs).unref();
  return {
    count(path, status, code, microseconds) {
      tally.add(routes.has(path) ? path : "other", status, code, microseconds / 1e6);
    },
    async write() {
      const written = await open();
      return { text: await written.metrics(), mediaType: written.contentType };
    },
  };
}

async function openRegistry(tally: Tally, limiter: Limiter, store: Pick<ReadStore, "sizes">): Promise<Registry> {
  const { Counter, Gauge, Registry } = await import("prom-client");
  const registry = new Registry();
  const registers = [registry];
  new Counter({
    name: "leadfile_requests_total",
    help: "Requests answered, by route, status and error code.",
    labelNames: ["route", "status", "code"],
    registers,
    collect() {
      this.reset();
      for (const { route, status, code, count } of tally.all()) this.inc({ route, status, code }, count);
    },
  });
  // The library's own histogram can only be fed one time after another.
  const seconds = { name: secondsName, get: () => histogramOf(tally) };
  registry.registerMetric(seconds as unknown as Metric);
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

  return registry;
}

/** Times by route, as the registry of the library writes them out. */
function histogramOf(tally: Tally) {
  const name = secondsName;
  const values = [...Map.groupBy(tally.all(), ({ route }) => route)].flatMap(([route, series]) => {
    const sum = (of: (one: Series) => number) => series.reduce((total, one) => total + of(one), 0);
    const upTo = (place: number) => sum(({ perClass }) => perClass.slice(0, place + 1).reduce((a, b) => a + b, 0));
    const bucket = (le: number | "+Inf", place: number) => ({
      metricName: `${name}_bucket`,
      labels: { le, route },
      value: upTo(place),
    });
    return [
      ...timeClasses.map(bucket),
      bucket("+Inf", timeClasses.length),
      { metricName: `${name}_sum`, labels: { route }, value: sum(({ seconds }) => seconds) },
      { metricName: `${name}_count`, labels: { route }, value: sum(({ count }) => count) },
    ];
  });
  return { name, help: "Time from a request's arrival to its answer, by route.", type: "histogram", values };
}

/** The address of a request's client. */
export type AddressOf = (request: Request) => string | undefined;

/** Whether a request comes from this very machine, and not by way of a proxy on it. */
export function isFromHere(address: string | undefined, headers: Headers): boolean {
  const loopback = address !== undefined && /^(?:127\.|::1$|::ffff:127\.)/.test(address);
  return loopback && !headers.has("x-forwarded-for") && !headers.has("forwarded");
}
