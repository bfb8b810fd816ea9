/** Clients that send a byte a second, or nothing, or do not read: they are let go, and good ones hardly notice. */

import { missingHere } from "../../../../test/support/needing.ts";
import { quantile } from "../../../quantile.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { ask, startClients } from "../../product/client.ts";
import { prepareKeys } from "../../product/contents.ts";
import { descriptorsOf } from "../../product/process-state.ts";
import { startServer } from "../../product/program.ts";

const closedWithinMs = 15_000;
const watchedMs = 16_000;
const goodClients = 4;
/** Below this, a ratio of times says nothing on a machine with other work. */
const unmeasurableMs = 25;

export const slowClients: Fault = {
  name: "slow and idle clients",
  attack: "a sixth sends a byte a second of a head, a line, a body or a TLS hello, the others nothing; connections",
  promise: "each is closed within 15 s, and good clients keep their p99 under 3 times that of a quiet server",
  small: 300,
  full: 12_000,
  breakages: [
    broken("a server that waits for ever", "src/server/listener.ts", "idleTimeout: idleSeconds,", "idleTimeout: 0,"),
  ],
  waits: true,
  missing: () => missingHere("/proc"),
  run,
};

/** The part sent immediately, and the part sent byte by byte. */
const ways: readonly (readonly [first: string, slowly: string])[] = [
  ["GET /api/v1/leads HTTP/1.1\r\nHost: a\r\nX-Slow: ", "a".repeat(60)],
  ["", `GET /${"b".repeat(60)}`],
  ["POST /api/v1/leads HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n", "c".repeat(60)],
  ["POST /api/v1/leads HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n".repeat(6)],
  ["GET /docs HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n".repeat(30)],
  ["\x16\x03\x01\x02\x00", "\x01".repeat(60)],
];

async function run({ build, times, progress, expect, file }: Attack): Promise<Figures> {
  const [{ secret }] = prepareKeys(file, 100);
  const server = await startServer(build, file);
  const descriptorsBefore = descriptorsOf(server.pid);
  const good = (forMs: number) => useWell(server.url, secret, forMs, expect);
  await good(500);
  const quietBeforeMs = p99(await good(2000));

  const connections = await openAll(server.url, times, progress);
  const watched = Bun.sleep(watchedMs);
  // Other work on the machine holds up one part or another; what the attack costs, it costs in each.
  const parts = [await good(3000), await good(3000), await good(3000)];
  const busyMs = Math.min(...parts.map(p99));
  await watched;
  const lives = connections.map((end) => end());
  const overdue = lives.filter((ms) => ms > closedWithinMs).length;
  expect(overdue === 0, () => `${overdue} of ${times} were still connected after 15 s`);
  // Other work that began during the attack is still there after it.
  const quietMs = Math.max(quietBeforeMs, p99(await good(2000)));
  expect(busyMs < Math.max(3 * quietMs, unmeasurableMs), () => `p99 went from ${quietMs} ms to ${busyMs} ms`);
  const left = descriptorsOf(server.pid) - descriptorsBefore;
  expect(left <= 2 * goodClients, () => `${left} descriptors were left behind`);
  await server.end("SIGKILL");
  const figures = {
    "p99 quiet ms": round(quietMs),
    "p99 under attack ms": round(busyMs),
    "longest lived s": round(Math.max(...lives) / 1000),
  };
  return figures;
}

/** Ends a connection, and returns the duration for which it was open. */
type End = () => number;

/** Some hundred at a time, so that none is turned away at the door. */
async function openAll(url: string, times: number, progress: (done: number) => void): Promise<End[]> {
  const connections: End[] = [];
  while (connections.length < times) {
    const group = Array.from({ length: Math.min(200, times - connections.length) }, (_, n) =>
      open(url, n % 6 === 0 ? ways[(n / 6) % ways.length] : undefined),
    );
    connections.push(...(await Promise.all(group)));
    progress(connections.length);
  }
  return connections;
}

async function open(url: string, [first, slowly] = ["", ""] as (typeof ways)[number]): Promise<End> {
  const { hostname, port } = new URL(url);
  const openedMs = performance.now();
  let closedMs: number | null = null;
  let drip: ReturnType<typeof setInterval> | undefined;
  const over = () => {
    closedMs ??= performance.now();
    clearInterval(drip);
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: { data: () => undefined, end: over, close: over, error: over },
  });
  if (first !== "") socket.write(Buffer.from(first, "latin1"));
  let sent = 0;
  if (slowly !== "") drip = setInterval(() => socket.write(Buffer.from(slowly.charAt(sent++), "latin1")), 1000);
  return () => {
    over();
    socket.terminate();
    return (closedMs ?? openedMs) - openedMs;
  };
}

/** Ordinary requests, one after the other; the times of all. */
async function useWell(url: string, secret: string, forMs: number, expect: Attack["expect"]): Promise<number[]> {
  const load = startClients(
    Array.from({ length: goodClients }, () => () => ask(url, secret)),
    2,
  );
  await Bun.sleep(forMs);
  const asked = await load.end();
  for (const { status } of asked) expect(status === 200, () => `a good client got ${status}`);
  return asked.map(({ tookMs }) => tookMs);
}

const p99 = (times: readonly number[]) => quantile(times, 0.99);
const round = (value: number) => Math.round(value * 100) / 100;
