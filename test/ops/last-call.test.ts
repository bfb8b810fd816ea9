/** A server that stops while clients are busy: each of them gets an answer to all that it has sent. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { stopAfterLastCall } from "../../src/api/listener.ts";
import { until } from "../support/eventually.ts";
import { start } from "../support/process.ts";

test("a request that comes while the server stops is answered, and told that its connection ends", async () => {
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

/** A client that asks again as soon as it has its answer, on one connection. */
function aBusyClient(url: string) {
  const { hostname, port, host } = new URL(url);
  const met = { answers: 0, isToldToClose: false, isWaiting: false };
  const socket = connect(Number(port), hostname, ask);
  function ask() {
    met.isWaiting = true;
    socket.write(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  }
  // An answer is short, and comes in one piece.
  socket.on("data", (bytes) => {
    met.answers++;
    met.isWaiting = false;
    met.isToldToClose = /^connection: close\r$/im.test(bytes.toString());
    if (!met.isToldToClose) ask();
  });
  socket.on("error", () => undefined);
  return { met, ended: new Promise((resolve) => socket.once("close", resolve)) };
}

test("clients without a pause get a last answer, and lose no request", async () => {
  const server = start({ LOG_LEVEL: "silent" });
  const url = await server.listening();
  const clients = Array.from({ length: 8 }, () => aBusyClient(url));
  await until(() => clients.every(({ met }) => met.answers > 10));
  expect(await server.end("SIGTERM")).toBe(0);
  await Promise.all(clients.map(({ ended }) => ended));
  // On a machine that stands still for a moment, a client may ask too late.
  expect(clients.filter(({ met }) => met.isWaiting).length).toBeLessThan(3);
  expect(clients.filter(({ met }) => met.isToldToClose).length).toBeGreaterThan(5);
});
