/** The load by autocannon, for machines without wrk: one JSON argument in, one line of JSON out. */
import { readFileSync } from "node:fs";
import autocannon from "autocannon";

const asked = JSON.parse(process.argv[2] ?? "{}");
const { url, target, varied, key, keysPath, seconds, connections, yearStartMs, yearMs } = asked;
const keys = keysPath === undefined ? [key] : readFileSync(keysPath, "utf8").trim().split("\n");
const join = target.includes("?") ? "&" : "?";
let turn = 0;

const place = () => new Date(yearStartMs + Math.floor(Math.random() * yearMs)).toISOString();

function setupRequest(request) {
  turn = (turn + 1) % keys.length;
  const path = varied ? `${target}${join}before=${place()}` : target;
  return { ...request, path, headers: { ...request.headers, authorization: `Bearer ${keys[turn]}` } };
}

const plain = { method: "GET", path: target, headers: { authorization: `Bearer ${key}` } };
const requests = [varied || keysPath !== undefined ? { ...plain, setupRequest } : plain];
const measured = await autocannon({ url, connections, duration: seconds, requests });
const result = {
  requests: measured.requests.total,
  seconds: measured.duration,
  p50Ms: measured.latency.p50,
  p99Ms: measured.latency.p99,
  failed: measured.errors + measured.non2xx,
};
process.stdout.write(`RESULT ${JSON.stringify(result)}\n`);
