/** The load by autocannon, for machines without wrk: one JSON argument in, one line of JSON out. */
import autocannon from "autocannon";

const { url, target, varied, key, seconds, connections, yearStartMs, yearMs } = JSON.parse(process.argv[2] ?? "{}");
const separator = target.includes("?") ? "&" : "?";

function setupRequest(request) {
  const before = new Date(yearStartMs + Math.floor(Math.random() * yearMs)).toISOString();
  return { ...request, path: `${target}${separator}before=${before}` };
}

const request = { method: "GET", path: target, headers: { authorization: `Bearer ${key}` } };
const requests = [varied ? { ...request, setupRequest } : request];
const measured = await autocannon({ url, connections, duration: seconds, requests });
const result = {
  requests: measured.requests.total,
  seconds: measured.duration,
  p50Ms: measured.latency.p50,
  p99Ms: measured.latency.p99,
  failed: measured.errors + measured.non2xx,
};
process.stdout.write(`RESULT ${JSON.stringify(result)}\n`);
