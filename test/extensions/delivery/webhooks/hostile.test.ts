/** The endpoint under clients that are slow, disconnect, or come all at once: others are served, and memory is bounded. */
import { expect, test } from "bun:test";
import { revokeSource } from "../../../../src/db/sources.ts";
import { eventually } from "../../../support/eventually.ts";
import { send } from "../../../support/wire.ts";
import { receive } from "./receiving.ts";

const visit = { email: "dana@example.com" };

/** Sends the beginning of a delivery, and then the rest of it slowly; tells when the endpoint has closed the connection. */
async function drip(url: string, first: string, slowly: string) {
  const { hostname, port } = new URL(url);
  const closed = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: { data: () => undefined, close: () => closed.resolve(), error: () => closed.resolve() },
  });
  socket.write(first);
  const dripping = setInterval(() => socket.write(slowly), 200);
  return { closed: closed.promise.finally(() => clearInterval(dripping)), end: () => socket.terminate() };
}

test.each([
  ["that trickles in", "Content-Length: 1000", "x"],
  ["that trickles in by chunks", "Transfer-Encoding: chunked", "1\r\nx\r\n"],
  ["that stops coming", "Content-Length: 1000", ""],
])("a body %s closes its connection and leaves no file", async (_, header, slowly) => {
  const { url, token, kept, logged } = await receive({ idleSeconds: 1 });
  const { closed } = await drip(url, `POST /in/${token} HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`, slowly);
  await closed;
  expect(kept()).toEqual([]);
  await eventually(async () => expect(logged.join("")).toContain(`"status":400`));
  expect(logged.join("")).not.toContain(`"level":50`);
});

test.each(["[", "%", "a b", "x:99999"])("accepts a delivery to the host %s", async (host) => {
  const { url, token, kept, logged } = await receive();
  expect((await send(url, { method: "POST", target: `/in/${token}`, host, body: "{}" })).status).toBe(200);
  expect(kept()).toEqual([{}]);
  expect(logged.join("")).not.toContain(token);
});

test("a delivery whose token is revoked during its upload is rejected", async () => {
  const { url, token, id, database, kept } = await receive();
  const begun = Promise.withResolvers<void>();
  const revoked = Promise.withResolvers<void>();
  async function* body() {
    yield new TextEncoder().encode('{"email":');
    begun.resolve();
    await revoked.promise;
    yield new TextEncoder().encode('"dana@example.com"}');
  }
  const answer = fetch(`${url}/in/${token}`, { method: "POST", body: body() });
  await begun.promise;
  await Bun.sleep(100);
  await revokeSource(database, id, Date.now());
  revoked.resolve();
  expect([(await answer).status, kept()]).toEqual([401, []]);
});

test("deliveries that exceed the bound for a slow disk get a Retry-After", async () => {
  const disk = Promise.withResolvers<void>();
  const { deliver } = await receive({
    spool: (real) => ({ ...real, append: (...asked) => disk.promise.then(() => real.append(...asked)) }),
  });
  const large = JSON.stringify({ ...visit, note: "x".repeat(990_000) });
  const answers = Array.from({ length: 40 }, () => deliver(large));
  const first = await Promise.race(answers);
  expect([first.status, first.headers.get("retry-after")]).toEqual([503, "30"]);
  disk.resolve();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect((await deliver(JSON.stringify(visit))).status).toBe(200);
});

test("a body with 80,000 names does not block the endpoint", async () => {
  const { deliver, kept } = await receive();
  const body = JSON.stringify(Object.fromEntries(Array.from({ length: 80_000 }, (_, n) => [`k${n}`, 0])));
  const times: number[] = [];
  for (let time = 0; time < 5; time++) {
    const startedMs = performance.now();
    expect((await deliver(body)).status).toBe(200);
    times.push(performance.now() - startedMs);
  }
  expect(Math.min(...times)).toBeLessThan(500);
  expect(kept()).toHaveLength(5);
});
