/** What the answers of an rqlite node mean, and what goes over the wire. */
import { describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { askLastWrite } from "../../../extensions/cluster/last-write.ts";
import { createLease, leaseMs } from "../../../extensions/cluster/lease/lease.ts";
import { listMembers } from "../../../extensions/cluster/node/members.ts";
import { readNumber, readWritten, writeRequest } from "../../../extensions/cluster/node/node.ts";
import { statementOf } from "../../../extensions/cluster/node/statement.ts";
import { failureOf, openWriter } from "../../../extensions/cluster/writer.ts";
import { StoreError } from "../../../src/store/errors.ts";
import { aHost } from "./nodes.ts";

describe("an answer to a write", () => {
  test("with a result for each statement says that it is in", () => {
    const text = '{"results":[{"last_insert_id":1,"rows_affected":1},{}]}';
    expect(readWritten({ status: 200, text })).toEqual({ kind: "done", changes: [1, 0] });
  });

  test("with an error of SQLite says that all of it was rolled back", () => {
    const text = '{"results":[{"rows_affected":1},{"error":"UNIQUE constraint failed: writes.id"}]}';
    expect(readWritten({ status: 200, text })).toEqual({
      kind: "refused",
      reason: "UNIQUE constraint failed: writes.id",
    });
  });

  test.each([
    [200, '{"results":[],"error":"node failed to process Execute on remote node: broken pipe"}'],
    [200, '{"results":[]}'],
    [200, "{"],
    [503, "leader not found"],
    [500, "leadership lost while committing log"],
    [401, ""],
    [0, "ECONNREFUSED"],
  ])("with the status %d and %j says nothing of its outcome", (status, text) => {
    expect(readWritten({ status, text }).kind).toBe("unknown");
  });

  test.each([
    [200, '{"results":[{"values":null}]}'],
    [200, '{"results":[],"error":"no leader"}'],
    [503, ""],
  ])("to a question, with the status %d and %j, is no number", (status, text) => {
    expect(() => readNumber({ status, text })).toThrow();
  });
});

describe("a statement on the wire", () => {
  test("has all its values in one JSON text, so that no text is taken for bytes", () => {
    const { sql: text, json } = statementOf(sql`SELECT ${"x'41'"}, '?', ${7}, ${null}, ${Buffer.from("AB")}`);
    expect(text).toBe(
      "SELECT json_extract(?1, '$[0]'), '?', json_extract(?1, '$[1]'), json_extract(?1, '$[2]'), unhex(json_extract(?1, '$[3]'))",
    );
    expect(JSON.parse(json)).toEqual(["x'41'", 7, null, "4142"]);
  });
});

test("a node that was restarted is found, though the others have connections to it that are broken", async () => {
  let broken = 3;
  using standIn = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      const error = "write length: write tcp 10.0.0.1:51524->10.0.0.3:4002: write: broken pipe";
      const restarted = broken-- > 0 ? { error } : { api_addr: "http://10.0.0.3:4001" };
      return Response.json({ nodes: [{ id: "n3", voter: true, ...restarted }] });
    },
  });
  const [member] = await listMembers({ url: standIn.url.origin, authorization: null });
  expect(member).toMatchObject({ name: "n3", url: "http://10.0.0.3:4001" });
});

test("a node that joins, and has no tables yet, shows no last write", async () => {
  using standIn = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Response.json({ results: [{ error: "no such table: writes" }] }),
  });
  expect(await askLastWrite({ url: standIn.url.origin, authorization: null })).toBeNull();
});

test("a write has no time limit within a node, which would roll back alone what the others have", () => {
  const { url } = writeRequest({ url: "http://127.0.0.1:4001", authorization: null }, [], 400);
  expect(new URL(url).searchParams.has("db_timeout")).toBe(false);
});

test("what is written right behind a write that nobody took is tried once, and not waited for again", () => {
  using writer = openWriter("", { url: `http://${aHost()}:1`, authorization: null });
  const tookMs = [1, 2].map(() => {
    const begunMs = performance.now();
    expect(() => writer.commit([])).toThrow("node silent");
    return performance.now() - begunMs;
  });
  const [first = 0, second = 0] = tookMs;
  expect(second).toBeLessThan(first / 2);
});

test("a mistake of our own is not told as a majority that was not heard", () => {
  const failing = (cause: Error) => () =>
    failureOf(() => {
      throw cause;
    });
  const unheard = new StoreError({ kind: "cluster not heard", reason: "leader not found" });
  expect(failing(unheard)()).toBe("leader not found");
  expect(failing(new TypeError("undefined is not a function"))).toThrow("undefined is not a function");
});

function aLease() {
  const clocks = { monotonic: 1_000_000, wall: 1_800_000_000_000 };
  const lease = createLease({ monotonicMs: () => clocks.monotonic, wallMs: () => clocks.wall });
  const pass = (ms: number) => {
    clocks.monotonic += ms;
    clocks.wall += ms;
  };
  return { lease, clocks, pass };
}

const showing = (count: number, numbers: Readonly<Record<string, number>> = {}) => ({
  revision: () => count,
  numberOf: (id: string) => numbers[id],
});

describe("a lease", () => {
  test("begins when the own file shows what the majority answered, and is counted from the question", () => {
    const { lease, pass } = aLease();
    const question = lease.begin();
    pass(400);
    lease.answered(question, { count: 7, lastWrite: null });
    lease.seen(showing(6));
    expect(lease.holds()).toBe(false);
    pass(600);
    lease.seen(showing(7));
    expect(lease.holds()).toBe(true);
    pass(leaseMs - 1_000);
    expect(lease.holds()).toBe(true);
    pass(1);
    expect(lease.holds()).toBe(false);
  });

  test("ends when another file lies at the path", () => {
    const { lease } = aLease();
    lease.answered(lease.begin(), { count: 0, lastWrite: null });
    lease.seen(showing(0));
    lease.lose();
    expect(lease.holds()).toBe(false);
    lease.seen(showing(9));
    expect(lease.holds()).toBe(false);
  });

  test.each([leaseMs + 1, -leaseMs - 1])("ends when the wall clock has gone %d ms further than time has", (ms) => {
    const { lease, clocks } = aLease();
    lease.answered(lease.begin(), { count: 0, lastWrite: null });
    lease.seen(showing(0));
    clocks.wall += ms;
    expect(lease.holds()).toBe(false);
  });

  test("is not renewed by an answer whose time is up", () => {
    const { lease, pass } = aLease();
    const question = lease.begin();
    pass(leaseMs + 1);
    lease.answered(question, { count: 0, lastWrite: null });
    lease.seen(showing(0));
    expect(lease.holds()).toBe(false);
  });
});

describe("a lease on a file that lags", () => {
  test("begins when the own file shows all that was written, and goes on when it shows what must hold at once", () => {
    const { lease, pass } = aLease();
    lease.answered(lease.begin(), { count: 7, lastWrite: { number: 1, id: "one" } });
    lease.seen(showing(7));
    expect(lease.holds()).toBe(false);
    lease.seen(showing(7, { one: 1 }));
    expect(lease.holds()).toBe(true);
    pass(leaseMs - 1_000);
    lease.answered(lease.begin(), { count: 7, lastWrite: { number: 2, id: "two" } });
    lease.seen(showing(7, { one: 1 }));
    pass(leaseMs - 1_000);
    expect(lease.holds()).toBe(true);
  });

  /** For how long a node answers that shows some writes, while the majority tells of the last write. */
  function answersFor(lastWrite: { number: number; id: string }, numbers: Readonly<Record<string, number>>): number {
    const { lease, pass } = aLease();
    lease.answered(lease.begin(), { count: 7, lastWrite: null });
    lease.seen(showing(7, numbers));
    for (let second = 0; second < 300; second++) {
      if (!lease.holds()) return second;
      pass(1_000);
      lease.answered(lease.begin(), { count: 7, lastWrite });
      lease.seen(showing(7, numbers));
    }
    return Number.POSITIVE_INFINITY;
  }

  test("ends where the own file has lagged for half a minute, or lacks a write before the last", () => {
    const last = { number: 9, id: "nine" };
    expect(answersFor(last, { nine: 9 })).toBe(Number.POSITIVE_INFINITY);
    expect(answersFor(last, {})).toBe(31);
    expect(answersFor(last, { nine: 8 })).toBe(31);
  });

  test("begins again as soon as a leader that lacked a write is gone", () => {
    const { lease, pass } = aLease();
    const showsNine = showing(7, { nine: 9 });
    for (let second = 0; second < 40; second++) {
      lease.answered(lease.begin(), { count: 7, lastWrite: { number: 8, id: "nine" } });
      lease.seen(showsNine);
      pass(1_000);
    }
    expect(lease.holds()).toBe(false);
    lease.answered(lease.begin(), { count: 7, lastWrite: { number: 9, id: "nine" } });
    lease.seen(showsNine);
    expect(lease.holds()).toBe(true);
  });
});
