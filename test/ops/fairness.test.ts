/** Nobody is kept out: not by clients that keep opening connections, not by those that ask at the same time. */
import { expect, onTestFinished, spyOn, test } from "bun:test";
import { connect } from "node:net";
import { setImmediate as turnOver } from "node:timers/promises";
import { inFairTurns } from "../../src/api/listener.ts";
import { someLeads } from "../support/builders.ts";
import { serve } from "../support/harness.ts";
import { start } from "../support/process.ts";
import { sendText } from "../support/wire.ts";

test("what comes late in a turn that takes too long waits for the next turn, and nothing else waits", async () => {
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
  let isAnswered = false;
  const late = Promise.resolve(ask()).then(() => {
    isAnswered = true;
  });
  await Promise.resolve();
  expect(isAnswered).toBe(false);
  await turnOver();
  await late;
  expect(isAnswered).toBe(true);
  expect(ask()).toBeInstanceOf(Response);
});

test("sixteen clients at once get each its own answers, and one that sends requests ahead gets them all", async () => {
  // No turn takes too long by this clock: Bun drops what was sent behind a request that waits for the next turn.
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

test("clients that keep opening connections keep nobody else out", async () => {
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
  // Some eighty, on a busy machine too; without an end of a turn they never end.
  expect(Math.max(...waits)).toBeLessThan(1000);
});

/** Sends requests ahead on a connection of its own, which it closes once it has their answers. */
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
