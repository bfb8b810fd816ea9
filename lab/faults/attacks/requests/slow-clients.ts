/** Clients that send a byte a second, or nothing, or do not read: they are let go, and good ones hardly notice. */
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { prepareKey } from "../../product/contents.ts";
import { descriptorsOf, missingProc } from "../../product/process-state.ts";
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
    broken("a server that waits for ever", "src/api/listener.ts", "idleTimeout: idleSeconds,", "idleTimeout: 0,"),
  ],
  waits: true,
  missing: missingProc,
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
  const secret = prepareKey(file, 100);
  const server = await startServer(build, file);
  const descriptorsBefore = descriptorsOf(server.pid);
  const good = (forMs: number) => useWell(server.url, secret, forMs, expect);
  await good(500);
  const quietBeforeMs = percentile99(await good(2000));

  const connections = await openAll(server.url, times, progress);
  const watched = Bun.sleep(watchedMs);
  // Other work on the machine holds up one part or another; what the attack costs, it costs in each.
  const parts = [await good(3000), await good(3000), await good(3000)];
  const busyMs = Math.min(...parts.map(percentile99));
  await watched;
  const lives = connections.map(({ livedMs }) => livedMs());
  for (const { end } of connections) end();
  const overdue = lives.filter((ms) => ms > closedWithinMs).length;
  expect(overdue === 0, () => `${overdue} of ${times} were still connected after 15 s`);
  // Other work that began during the attack is still there after it.
  const quietMs = Math.max(quietBeforeMs, percentile99(await good(2000)));
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

interface Connection {
  /** The duration for which it was open, until now if it still is. */
  livedMs(): number;
  end(): void;
}

/** Some hundred at a time, so that none is turned away at the door. */
async function openAll(url: string, times: number, progress: (done: number) => void): Promise<Connection[]> {
  const connections: Connection[] = [];
  while (connections.length < times) {
    const group = Array.from({ length: Math.min(200, times - connections.length) }, (_, n) =>
      open(url, n % 6 === 0 ? ways[(n / 6) % ways.length] : undefined),
    );
    connections.push(...(await Promise.all(group)));
    progress(connections.length);
  }
  return connections;
}

async function open(url: string, way: (typeof ways)[number] | undefined): Promise<Connection> {
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
  if (way !== undefined) {
    const [first, slowly] = way;
    let sent = 0;
    if (first !== "") socket.write(Buffer.from(first, "latin1"));
    drip = setInterval(() => socket.write(Buffer.from(slowly.charAt(sent++), "latin1")), 1000);
  }
  return {
    livedMs: () => (closedMs ?? performance.now()) - openedMs,
    end() {
      clearInterval(drip);
      socket.terminate();
    },
  };
}

/** Ordinary requests, one after the other; the times of all. */
async function useWell(url: string, secret: string, forMs: number, expect: Attack["expect"]): Promise<number[]> {
  const times: number[] = [];
  const endMs = performance.now() + forMs;
  await Promise.all(
    Array.from({ length: goodClients }, async () => {
      while (performance.now() < endMs) {
        const begunMs = performance.now();
        const response = await fetch(`${url}/api/v1/leads`, { headers: { Authorization: `Bearer ${secret}` } });
        await response.arrayBuffer();
        times.push(performance.now() - begunMs);
        expect(response.status === 200, () => `a good client got ${response.status}`);
        await Bun.sleep(2);
      }
    }),
  );
  return times;
}

export function percentile99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

const round = (value: number) => Math.round(value * 100) / 100;
