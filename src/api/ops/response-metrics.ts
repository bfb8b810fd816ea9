/**
 * The metrics of responses, for Prometheus: their number and latency. They are counted here because prom-client checks and
 * hashes the labels of each response, which took a tenth of the time of a page.
 */
import { Counter, type Metric, type Registry } from "prom-client";
import { paths } from "../../contract/paths.ts";

/** The upper bounds of the buckets, in seconds. */
const bounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

/** The responses with one route, status, and error code. */
interface Responses {
  readonly labels: { readonly route: string; readonly status: number; readonly code: string };
  seconds: number;
  /** The number of responses in each bucket. The last bucket has no upper bound. */
  readonly counts: number[];
}

/** Counts a response. */
export type CountResponse = (route: string, status: number, code: string, seconds: number) => void;

/** Adds the response counter and the latency histogram to a registry, and returns the function that counts. */
export function addResponseMetrics(registry: Registry): CountResponse {
  const all = new Map<string, Responses>();
  const responsesOf = (route: string, status: number, code: string) =>
    all.getOrInsertComputed(`${route} ${status} ${code}`, () => ({
      labels: { route, status, code },
      seconds: 0,
      counts: Array.from({ length: bounds.length + 1 }, () => 0),
    }));
  // Server errors are listed from the start as 0. Prometheus sees no increase in a counter that first appears as 1, so an alert
  // would miss the first failure.
  for (const route of Object.values(paths)) {
    for (const code of ["internal_error", "query_failed"]) responsesOf(route, 500, code);
  }
  new Counter({
    name: "leadfile_requests_total",
    help: "Requests answered, by route, status and error code.",
    labelNames: ["route", "status", "code"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, counts } of all.values()) this.inc(labels, sum(counts));
    },
  });
  const name = "leadfile_request_seconds";
  const histogram = {
    name,
    async get() {
      const values = [...Map.groupBy(all.values(), ({ labels }) => labels.route)].flatMap(([route, some]) => {
        const count = sum(some.flatMap(({ counts }) => counts));
        const upTo = (last: number) => sum(some.flatMap(({ counts }) => counts.slice(0, last + 1)));
        return [
          ...bounds.map((le, at) => ({ metricName: `${name}_bucket`, labels: { le, route }, value: upTo(at) })),
          { metricName: `${name}_bucket`, labels: { le: "+Inf", route }, value: count },
          { metricName: `${name}_sum`, labels: { route }, value: sum(some.map(({ seconds }) => seconds)) },
          { metricName: `${name}_count`, labels: { route }, value: count },
        ];
      });
      return { name, help: "Time from a request's arrival to its answer, by route.", type: "histogram", values };
    },
  };
  registry.registerMetric(histogram as unknown as Metric); // The registry reads nothing else of a metric.
  return (route, status, code, seconds) => {
    const responses = responsesOf(route, status, code);
    responses.seconds += seconds;
    const bucket = bounds.findIndex((bound) => seconds <= bound);
    const at = bucket === -1 ? bounds.length : bucket;
    responses.counts[at] = (responses.counts[at] ?? 0) + 1;
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
