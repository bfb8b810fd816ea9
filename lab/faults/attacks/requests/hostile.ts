/** Hostile requests in great numbers: the server stays up, fails at none of them, and keeps nothing of them. */
import { connect } from "node:net";
import { missingHere } from "../../../../test/support/needing.ts";
import { median } from "../../../quantile.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { ask } from "../../product/client.ts";
import { prepareKeys } from "../../product/contents.ts";
import { descriptorsOf, memoryOf } from "../../product/process-state.ts";
import { startServer } from "../../product/program.ts";
import { aBurst, type Burst } from "./hostile-requests.ts";

const atOnce = 16;
/** The maximum growth. */
const growthAllowed = 40_000_000;
/** A server that waits for the rest of a request says nothing for this long. */
const silenceMs = 60;

export const hostile: Fault = {
  name: "hostile requests",
  attack: "heads, paths, parameters, encodings, pipelines and plain noise over raw sockets; answers",
  promise:
    "no crash, no 5xx of the application, nothing on standard error, memory + 40 MB at most, no more descriptors",
  small: 4000,
  full: 1_000_000,
  breakages: [
    broken(
      "a descriptor left open by each request",
      "src/api/ops/access-log.ts",
      "  return (context, { status, code, cause }) => {\n",
      '  return (context, { status, code, cause }) => {\nif (Math.random() < 0.1) require("node:fs").openSync("/dev/null");\n',
    ),
    broken(
      "text that cannot be decoded thrown on",
      "src/api/query.ts",
      "  try {\n    const text = decodeURIComponent(raw.replaceAll",
      "  decodeURIComponent(raw);\n  try {\n    const text = decodeURIComponent(raw.replaceAll",
    ),
    broken(
      "a server that keeps something of every request",
      "src/api/ops/access-log.ts",
      "  return (context, { status, code, cause }) => {\n",
      "  return (context, { status, code, cause }) => {\n(globalThis.kept ??= []).push(Buffer.alloc(16_384, 1));\n",
    ),
  ],
  missing: () => missingHere("/proc"),
  run,
};

async function run({ build, times, random, goesOn, progress, expect, file }: Attack): Promise<Figures> {
  const [{ secret }] = prepareKeys(file, 200);
  const server = await startServer(build, file);
  let alive = true;
  void server.exited.then(() => (alive = false));
  const statuses = new Map<string, number>();
  await useAsUsual(server.url, secret);
  const before = memoryOf(server.pid);
  const descriptorsBefore = descriptorsOf(server.pid);
  const samples: number[] = [];
  let answers = 0;
  const { hostname, port } = new URL(server.url);
  await Promise.all(
    Array.from({ length: atOnce }, async (_, client) => {
      const chance = random.branch(client);
      while (answers < times && alive && goesOn()) {
        const burst = aBurst(chance, secret);
        const answer = await fire(hostname, Number(port), burst);
        for (const [, status = ""] of answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          answers++;
        }
        const failed = /HTTP\/1\.1 50[0-4] /.exec(answer);
        expect(
          failed === null,
          () => `${failed?.[0]} to ${JSON.stringify(burst.bytes.toString("latin1").slice(0, 400))}`,
        );
        if (client === 0) samples.push(memoryOf(server.pid) - before);
        progress(Math.min(answers, times));
      }
    }),
  );
  expect(alive, () => `the server ended: ${server.errors()}`);
  if (alive) {
    const { status } = await ask(server.url, secret);
    expect(status === 200, () => `afterwards an ordinary request got ${status}`);
    const left = descriptorsOf(server.pid) - descriptorsBefore;
    expect(left <= 2 * atOnce, () => `${left} descriptors were left behind`);
    await server.end();
  }
  expect(server.errors() === "", () => `standard error: ${server.errors().slice(0, 200)}`);
  const grown = median(samples.slice(-Math.ceil(samples.length / 4)));
  const peak = Math.max(...samples);
  expect(peak <= growthAllowed, () => `memory grew by ${megabytes(peak)} MB`);
  const answered = [...statuses].toSorted().map(([status, count]) => `${status}: ${count}`);
  return { answered: answered.join(", "), "memory + MB": megabytes(grown), "at its peak + MB": megabytes(peak) };
}

const megabytes = (bytes: number) => Math.round(bytes / 1e6);

/** The baseline is measured after normal use. */
async function useAsUsual(url: string, secret: string): Promise<void> {
  const targets = ["leads", "leads?limit=100", "usage", "../../docs", "../../openapi.json", "../../metrics"];
  for (let turn = 0; turn < 150; turn++) {
    await Promise.all([...targets, ...targets, ...targets].map((target) => ask(url, secret, target)));
  }
}

/** Sends it all and gives what came back, once it is all there or nothing more comes. */
function fire(hostname: string, port: number, { bytes, requests }: Burst): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, hostname, () => socket.write(bytes));
    socket.setTimeout(silenceMs, () => socket.destroy());
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
      if (answer.split("HTTP/1.1 ").length > requests) socket.destroy();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(answer));
  });
}
