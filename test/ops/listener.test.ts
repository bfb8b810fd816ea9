/** Connections: no client is locked out by others, and a stopping server answers what was sent. */
import { expect, onTestFinished, spyOn, test } from "bun:test";
import { connect } from "node:net";
import { setImmediate as turnOver } from "node:timers/promises";
import { inFairTurns, stopAfterLastCall } from "../../src/api/listener.ts";
import { someLeads } from "../support/builders.ts";
import { until } from "../support/eventually.ts";
import { serve } from "../support/harness.ts";
import { start } from "../support/process.ts";
import { sendText } from "../support/wire.ts";

test("a request late in a turn that takes too long waits for the next turn, and no other request waits", async () => {
  let nowMs = 0;
  const answer = inFairTurns(
    () => new Response(),
    () => nowMs,
  );
  const ask = () => answer(new Request("http://localhost"));
  expect(ask()).toBeInstanceOf(Response);
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

test("sixteen clients at once get their own responses, and pipelined requests are all answered", async () => {
  // No turn takes too long by this clock: Bun drops the requests behind one that waits for the next turn.
  const clock = spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  const server = await serve({ leads: someLeads(30) });
  const key = server.aKey();
  const one = server.as(key);
  const clients = Array.from({ length: 16 }, async (_, place) => {
    const limit = place + 1;
    for (let turn = 0; turn < 150; turn++) {
      const { status, body } = await one.get(`/leads?limit=${limit}&since=2026-01-0${1 + (turn % 9)}T00:00:00Z`);
      expect({ status, leads: body.data.length }).toEqual({ status: 200, leads: limit });
    }
  });
  const ahead = Array.from({ length: 5 }, async () => {
    const limits = Array.from({ length: 20 }, (_, place) => place + 1);
    const lines = limits.map(
      (limit) =>
        `GET /api/v1/leads?limit=${limit} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\n` +
        `Authorization: Bearer ${key}\r\n${limit === limits.length ? "Connection: close\r\n" : ""}\r\n`,
    );
    const { status, body } = await sendText(server.url, lines.join(""));
    expect(status).toBe(200);
    expect(body.match(/HTTP\/1\.1 200 /g)?.length).toBe(limits.length - 1);
  });
  await Promise.all([...clients, ...ahead]);
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
  for (let asked = 0; asked < 20; asked++) {
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
  const handle = () => new Response("here");
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: handle });
  const { href } = server.url;
  const ask = () => fetch(href);
  const first = await ask();
  expect([await first.text(), first.headers.get("Connection")]).not.toContain("close");
  const stopped = stopAfterLastCall(server, handle);
  const last = await ask();
  expect([await last.text(), last.headers.get("Connection")]).toEqual(["here", "close"]);
  await stopped;
  await expect(ask()).rejects.toThrow();
});

/** A client that sends the next request as soon as it has its response, on one connection. */
function aBusyClient(url: string) {
  const { hostname, port, host } = new URL(url);
  const met = { answers: 0, isToldToClose: false, isWaiting: false };
  const socket = connect(Number(port), hostname, ask);
  function ask() {
    met.isWaiting = true;
    socket.write(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  }
  // A response is short, and arrives in one piece.
  socket.on("data", (bytes) => {
    met.answers++;
    met.isWaiting = false;
    met.isToldToClose = /^connection: close\r$/im.test(bytes.toString());
    if (!met.isToldToClose) ask();
  });
  socket.on("error", () => undefined);
  return { met, ended: new Promise((resolve) => socket.once("close", resolve)) };
}

test("busy clients get a last response, and lose no request", async () => {
  const server = start({ LOG_LEVEL: "silent" });
  const url = await server.listening();
  const clients = Array.from({ length: 8 }, () => aBusyClient(url));
  await until(() => clients.every(({ met }) => met.answers > 10));
  expect(await server.end("SIGTERM")).toBe(0);
  await Promise.all(clients.map(({ ended }) => ended));
  // On a busy machine, a client may ask too late.
  expect(clients.filter(({ met }) => met.isWaiting).length).toBeLessThan(3);
  expect(clients.filter(({ met }) => met.isToldToClose).length).toBeGreaterThan(5);
});
