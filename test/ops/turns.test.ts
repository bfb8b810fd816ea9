/** Answers that go out together under load: none is lost, late or another's, and who sends requests ahead gets them all. */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { createTurns } from "../../src/http/turns.ts";
import { someLeads } from "../builders.ts";
import { serve } from "../harness.ts";
import { start } from "../process.ts";
import { sendText } from "../wire.ts";

type Take = ReturnType<typeof createTurns>;

const turnsThat = (mayWait: (answer: Response) => boolean) => createTurns({ mayWait, together: (work) => work() });
const isHeld = (answer: Response | Promise<Response>) => answer instanceof Promise;

describe("an answer", () => {
  /** A turn in which each of these connections asks; says whose answers are held. */
  async function aTurn(take: Take, connections: readonly (string | null)[]) {
    const answers = connections.map((connection) =>
      take(
        () => new Response(),
        () => connection,
      ),
    );
    await endOfTurn();
    return answers.map(isHeld);
  }

  async function turns(take: Take, count: number, connections: readonly (string | null)[]) {
    for (let turn = 0; turn < count; turn++) await aTurn(take, connections);
    return aTurn(take, connections);
  }

  test("to a client that is alone goes out at once, however long it asks", async () => {
    expect(
      await turns(
        turnsThat(() => true),
        300,
        ["a"],
      ),
    ).toEqual([false]);
  });

  test("is held where several ask in a turn, once each has waited for its answers a hundred times", async () => {
    const take = turnsThat(() => true);
    expect(await turns(take, 100, ["a", "b"])).toEqual([false, false]);
    expect(await aTurn(take, ["a", "b", "new"])).toEqual([true, true, false]);
  });

  test("that is held is the one that was given, and goes out at the end of its turn", async () => {
    const take = turnsThat(() => true);
    await turns(take, 101, ["a", "b"]);
    const answer = new Response("a page");
    const sent: string[] = [];
    void Promise.resolve(
      take(
        () => answer,
        () => "a",
      ),
    ).then((given) => sent.push(given === answer ? "the answer" : "another"));
    await Promise.resolve();
    expect(sent).toEqual([]);
    await endOfTurn();
    expect(sent).toEqual(["the answer"]);
  });

  test("of a turn is made together with the others, before the first of them goes out", async () => {
    const events: string[] = [];
    const take = createTurns({
      mayWait: () => true,
      together: (work) => {
        events.push("begin");
        work();
        events.push("end");
      },
    });
    await turns(take, 101, ["a", "b"]);
    events.length = 0;
    for (const connection of ["a", "b"]) {
      const answer = take(
        () => {
          events.push(`${connection} made`);
          return new Response();
        },
        () => connection,
      );
      void Promise.resolve(answer).then(() => events.push(`${connection} sent`));
    }
    expect(events).toEqual([]);
    await endOfTurn();
    expect(events).toEqual(["begin", "a made", "b made", "end", "a sent", "b sent"]);
  });

  test("that cannot be made takes none of the others with it", async () => {
    const take = turnsThat(() => true);
    await turns(take, 101, ["a", "b"]);
    const fail = () => {
      throw new Error("no answer");
    };
    const [failed, made] = [
      take(fail, () => "a"),
      take(
        () => new Response("b"),
        () => "b",
      ),
    ];
    await expect(Promise.resolve(failed)).rejects.toThrow("no answer");
    expect(await (await made).text()).toBe("b");
  });

  test("is never held for a client that once sent a request ahead", async () => {
    const take = turnsThat(() => true);
    await aTurn(take, ["a", "b"]);
    await aTurn(take, ["ahead", "ahead", "b"]);
    expect(await turns(take, 200, ["ahead", "b"])).toEqual([false, true]);
  });

  test("is never held for a client that sends ahead, though every other answer of it is too large to be held", async () => {
    const take = turnsThat((answer) => answer.status === 200);
    const pair = async () => {
      const answers = [200, 400].map((status) =>
        take(
          () => new Response(null, { status }),
          () => "pairs",
        ),
      );
      await endOfTurn();
      return answers.map(isHeld);
    };
    for (let turn = 0; turn < 200; turn++) expect(await pair()).toEqual([false, false]);
  });

  test("to what comes late in a turn that takes too long is made after its end", async () => {
    const take = turnsThat(() => true);
    const made: string[] = [];
    const make = (name: string, ms: number) => () => {
      Bun.sleepSync(ms);
      made.push(name);
      return new Response(name);
    };
    const answers = [make("first", 300), make("late", 0), make("later", 0)].map((one) => take(one, () => null));
    expect(answers.map(isHeld)).toEqual([false, true, true]);
    expect(made).toEqual(["first"]);
    const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
    expect(texts).toEqual(["first", "late", "later"]);
    expect(isHeld(take(make("next", 0), () => null))).toBe(false);
  });

  test("that is too large to be sent in one piece later is never held", async () => {
    const take = turnsThat((answer) => answer.status !== 200);
    expect(await turns(take, 300, ["a", "b"])).toEqual([false, false]);
  });

  test("is not held where nobody knows the connection", async () => {
    expect(
      await turns(
        turnsThat(() => true),
        200,
        [null, "b"],
      ),
    ).toEqual([false, true]);
  });

  test("is held again only after another hundred, once there have been too many connections to remember", async () => {
    const take = turnsThat(() => true);
    expect(await turns(take, 101, ["a", "b"])).toEqual([true, true]);
    await aTurn(
      take,
      Array.from({ length: 5000 }, (_, other) => `other ${other}`),
    );
    expect(await aTurn(take, ["a", "b"])).toEqual([false, false]);
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

test("clients that keep opening connections keep nobody else out", async () => {
  const server = start({ RATE_LIMIT_PER_MIN: "1000000000", LOG_LEVEL: "silent" });
  const { hostname, port, host } = new URL(await server.listening());
  const salvo = `GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(20);
  const endMs = performance.now() + 3000;
  const open = () => performance.now() < endMs;
  const opening = Array.from({ length: 16 }, async () => {
    while (open()) await fire(hostname, Number(port), salvo, 20);
  });
  let answered = 0;
  const waiting = (async () => {
    while (open()) {
      await (await fetch(`http://${host}/healthz`)).text();
      if (open()) answered++;
      await Bun.sleep(10);
    }
  })();
  await Promise.all([...opening, waiting]);
  expect(answered).toBeGreaterThan(2);
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
