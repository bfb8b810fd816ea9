/** Connections: no client is locked out by others, and a stopping server answers what was sent. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { setImmediate as turnOver } from "node:timers/promises";
import { inFairTurns, startListener } from "../../src/server/listener.ts";
import { start } from "../support/process.ts";

test("a request late in a turn that takes too long waits for the next turn, and no other request waits", async () => {
  let nowMs = 0;
  const answer = inFairTurns(
    () => new Response(),
    () => nowMs,
  );
  const ask = () => answer(new Request("http://localhost"));
  expect(ask()).toBeInstanceOf(Response);
  // On a machine that stalls, and after requests that take no time.
  nowMs = 10_000;
  for (let asked = 1; asked < 100; asked++) expect(ask()).toBeInstanceOf(Response);
  nowMs = 250;
  expect(ask()).toBeInstanceOf(Response);
  nowMs = 251;
  const late = Promise.resolve(ask());
  await Promise.resolve();
  expect(Bun.peek.status(late)).toBe("pending");
  await turnOver();
  expect(await late).toBeInstanceOf(Response);
  expect(ask()).toBeInstanceOf(Response);
});

test("clients that keep opening connections lock out no other client", async () => {
  const server = start({ RATE_LIMIT_PER_MIN: "1000000000", LOG_LEVEL: "silent" });
  const { hostname, port, host } = new URL(await server.listening());
  const salvo = `GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(20);
  let isOver = false;
  /** Connections of the others that were answered. */
  let others = 0;
  const opening = Array.from({ length: 16 }, async () => {
    while (!isOver) {
      await fire(hostname, Number(port), salvo, 20);
      others++;
    }
  });
  const waits: number[] = [];
  for (let asked = 0; asked < 10; asked++) {
    const before = others;
    expect((await fetch(`http://${host}/healthz`)).status).toBe(200);
    waits.push(others - before);
  }
  isOver = true;
  await Promise.all(opening);
  // About eighty, also on a busy machine; without turns, they never end.
  expect(Math.max(...waits)).toBeLessThan(1000);
});

/** Sends pipelined requests on a new connection, and closes it once it has their responses. */
function fire(hostname: string, port: number, text: string, requests: number): Promise<void> {
  return new Promise((resolve) => {
    let answers = 0;
    const socket = connect(port, hostname, () => void socket.write(text));
    socket.on("data", (bytes) => {
      answers += bytes.toString("latin1").split("HTTP/1.1 ").length - 1;
      if (answers >= requests) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve());
  });
}

test("a request that arrives while the server stops is answered, with Connection: close", async () => {
  const answer = () => new Response("here");
  const address = { host: "127.0.0.1", port: 0, tls: null };
  const server = startListener(address, { serviceOn: () => ({ answer, paths: ["/"] }), maxBodyBytes: 0 });
  const href = `${server.url}/`;
  const ask = () => fetch(href);
  const first = await ask();
  expect([await first.text(), first.headers.get("Connection")]).not.toContain("close");
  const stopped = server.stop();
  const last = await ask();
  expect([await last.text(), last.headers.get("Connection")]).toEqual(["here", "close"]);
  await stopped;
  await expect(ask()).rejects.toThrow();
});
