/** The metrics of requests: how many were answered, and in what time. */
import { Counter, Histogram, type Registry } from "prom-client";
import { paths, publicPaths } from "../../contract/paths.ts";

/** Counts an answer; `code` is that of an error, or empty. */
export type CountRequest = (path: string, status: number, code: string, microseconds: number) => void;

/** Known routes alone are counted by name: unknown paths must not make the counts grow. */
const routes: ReadonlySet<string> = new Set([...Object.values(paths), ...Object.values(publicPaths)]);

/** The upper ends of the classes of time, in seconds. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

export function countRequests(registry: Registry): CountRequest {
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
  return (path, status, code, microseconds) => {
    const route = routes.has(path) ? path : "other";
    requests.inc({ route, status, code });
    seconds.observe({ route }, microseconds / 1e6);
  };
}
