/** Answers that go out together under load: none is lost, late or another's, and who sends requests ahead gets them all. */
import { describe, expect, test } from "bun:test";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { createTurns } from "../../src/http/turns.ts";
import { someLeads } from "../builders.ts";
import { serve } from "../harness.ts";
import { sendText } from "../wire.ts";

const isHeld = (answer: Response | Promise<Response>) => answer instanceof Promise;

describe("an answer", () => {
  /** A turn in which each of these connections asks; says whose answers are held. */
  async function aTurn(hold: ReturnType<typeof createTurns>, connections: readonly (string | null)[]) {
    const answers = connections.map((connection) => hold(new Response(), () => connection));
    await endOfTurn();
    return answers.map(isHeld);
  }

  async function turns(hold: ReturnType<typeof createTurns>, count: number, connections: readonly (string | null)[]) {
    for (let turn = 0; turn < count; turn++) await aTurn(hold, connections);
    return aTurn(hold, connections);
  }

  test("to a client that is alone goes out at once, however long it asks", async () => {
    expect(await turns(createTurns(), 300, ["a"])).toEqual([false]);
  });

  test("is held where several ask in a turn, once each has waited for its answers a hundred times", async () => {
    const hold = createTurns();
    expect(await turns(hold, 100, ["a", "b"])).toEqual([false, false]);
    expect(await aTurn(hold, ["a", "b", "new"])).toEqual([true, true, false]);
  });

  test("that is held is the one that was given, and goes out at the end of its turn", async () => {
    const hold = createTurns();
    await turns(hold, 101, ["a", "b"]);
    const answer = new Response("a page");
    const sent: string[] = [];
    void Promise.resolve(hold(answer, () => "a")).then((given) =>
      sent.push(given === answer ? "the answer" : "another"),
    );
    await Promise.resolve();
    expect(sent).toEqual([]);
    await endOfTurn();
    expect(sent).toEqual(["the answer"]);
  });

  test("is never held for a client that once sent a request ahead", async () => {
    const hold = createTurns();
    await aTurn(hold, ["a", "b"]);
    await aTurn(hold, ["ahead", "ahead", "b"]);
    expect(await turns(hold, 200, ["ahead", "b"])).toEqual([false, true]);
  });

  test("is not held where nobody knows the connection", async () => {
    expect(await turns(createTurns(), 200, [null, "b"])).toEqual([false, true]);
  });

  test("is held again only after another hundred, once there have been too many connections to remember", async () => {
    const hold = createTurns();
    expect(await turns(hold, 101, ["a", "b"])).toEqual([true, true]);
    await aTurn(
      hold,
      Array.from({ length: 5000 }, (_, other) => `other ${other}`),
    );
    expect(await aTurn(hold, ["a", "b"])).toEqual([false, false]);
  });
});

test("sixteen clients at once get each its own answers, and one that sends requests ahead gets them all", async () => {
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
