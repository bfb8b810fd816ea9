/** What the answers of an rqlite node mean, and what goes over the wire. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { openClusterDatabase } from "../../../extensions/cluster/database.ts";
import { createLease, type Heard, leaseMs } from "../../../extensions/cluster/lease/lease.ts";
import { listMembers } from "../../../extensions/cluster/members.ts";
import { execute, readValue, readWritten, statementOf } from "../../../extensions/cluster/node.ts";
import { openNodeFile } from "../../../extensions/cluster/node-file.ts";
import { tableStatements } from "../../../extensions/cluster/tables.ts";
import { type Position, transactionOf } from "../../../extensions/cluster/transaction.ts";
import { aHost } from "./nodes.ts";

describe("an answer to a write", () => {
  test("with a result for each statement says that it is in", () => {
    const text = '{"results":[{"last_insert_id":1,"rows_affected":1},{}]}';
    expect(readWritten({ status: 200, text })).toEqual({ kind: "done" });
  });

  test("with an error of SQLite says that all of it was rolled back", () => {
    const text = '{"results":[{"rows_affected":1},{"error":"UNIQUE constraint failed: cluster_writes.id"}]}';
    expect(readWritten({ status: 200, text })).toEqual({
      kind: "refused",
      reason: "UNIQUE constraint failed: cluster_writes.id",
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
    [200, '{"results":[],"error":"no leader"}'],
    [503, ""],
  ])("to a question, with the status %d and %j, has no value", (status, text) => {
    expect(() => readValue({ status, text })).toThrow();
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

test("a write has no time limit within a node, which would roll back alone what the others have", async () => {
  let asked = "";
  using standIn = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      asked = url;
      return Response.json({ results: [{}] });
    },
  });
  await execute({ url: standIn.url.origin, authorization: null }, [], 400);
  expect(new URL(asked).searchParams.get("timeout")).toBe("400ms");
  expect(new URL(asked).searchParams.has("db_timeout")).toBe(false);
});

test("a write right after a write that was given up is tried once", async () => {
  const database = openClusterDatabase(openNodeFile(""), { url: `http://${aHost()}:1`, authorization: null });
  const timeOf = async () => {
    const startMs = performance.now();
    await expect(database.write([])).rejects.toThrow("The rqlite node at CLUSTER does not answer");
    return performance.now() - startMs;
  };
  const first = await timeOf();
  expect(await timeOf()).toBeLessThan(first / 2);
});

describe("an error of the leader's own disk", () => {
  test.each(["database or disk is full", "disk I/O error", "attempt to write a readonly database"])(
    "such as %j says nothing of the outcome: the other nodes apply the write",
    (error) => {
      const text = JSON.stringify({ results: [{ error }] });
      expect(readWritten({ status: 200, text })).toMatchObject({ kind: "unknown", isLeaderFault: true });
    },
  );
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

const showing = (revision: number, chains: Readonly<Record<string, number>> = {}) => ({
  revision: () => revision,
  chainOf: (id: string) => chains[id],
});

const at = (id: string, chain: number): Position => ({ id, chain, number: chain });

/** The answers of two other nodes, which have all that this one has unless it is said otherwise. */
function heard(revision: number, over: Partial<Heard> = {}): Heard {
  const others = [null, null].map(() => ({ last: null, chainAtOwn: null }));
  return { revision, voters: 3, isVoter: true, own: null, others, clockOffMs: 0, ...over };
}

describe("a lease", () => {
  test("begins when the own file shows what the majority answered, and is counted from the question", () => {
    const { lease, pass } = aLease();
    const question = lease.begin();
    pass(400);
    lease.answered(question, heard(7));
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

  test("ends when another file is at the path", () => {
    const { lease } = aLease();
    lease.answered(lease.begin(), heard(0));
    lease.seen(showing(0));
    lease.lose();
    expect(lease.holds()).toBe(false);
    lease.seen(showing(9));
    expect(lease.holds()).toBe(false);
  });

  test.each([leaseMs + 1, -leaseMs - 1])("ends when the wall clock moves %d ms more than time passes", (ms) => {
    const { lease, clocks } = aLease();
    lease.answered(lease.begin(), heard(0));
    lease.seen(showing(0));
    clocks.wall += ms;
    expect(lease.holds()).toBe(false);
  });

  test("is not renewed by an answer that took longer than a lease", () => {
    const { lease, pass } = aLease();
    const question = lease.begin();
    pass(leaseMs + 1);
    lease.answered(question, heard(0));
    lease.seen(showing(0));
    expect(lease.holds()).toBe(false);
  });

  test("does not begin on the word of the leader alone", () => {
    const { lease } = aLease();
    lease.answered(lease.begin(), heard(0, { others: [] }));
    lease.seen(showing(0));
    expect(lease.holds()).toBe(false);
  });

  test.each([31_000, -31_000])("ends when the clock of the machine is %d ms off", (clockOffMs) => {
    const { lease } = aLease();
    lease.answered(lease.begin(), heard(0));
    lease.seen(showing(0));
    lease.answered(lease.begin(), heard(0, { clockOffMs }));
    expect(lease.holds()).toBe(false);
  });
});

describe("a lease on a file that lags", () => {
  const one = at("one", 1);
  const two = { last: at("two", 2), chainAtOwn: 1 };

  test("begins when the file shows all writes, and continues while it shows those that have to hold at once", () => {
    const { lease, pass } = aLease();
    const others = [one, one].map((last) => ({ last, chainAtOwn: null }));
    lease.answered(lease.begin(), heard(7, { others }));
    lease.seen(showing(7));
    expect(lease.holds()).toBe(false);
    lease.seen(showing(7, { one: 1 }));
    expect(lease.holds()).toBe(true);
    pass(leaseMs - 1_000);
    lease.answered(lease.begin(), heard(7, { own: one, others: [two, two] }));
    lease.seen(showing(7, { one: 1 }));
    pass(leaseMs - 1_000);
    expect(lease.holds()).toBe(true);
  });

  /** The second in which a node stops serving that shows some writes, while the others give these answers. */
  function servesFor(answers: Partial<Heard>, chains: Readonly<Record<string, number>>): number {
    const { lease, pass } = aLease();
    lease.answered(lease.begin(), heard(7));
    lease.seen(showing(7, chains));
    for (let second = 0; second < 300; second++) {
      if (!lease.holds()) return second;
      pass(1_000);
      lease.answered(lease.begin(), heard(7, answers));
      lease.seen(showing(7, chains));
    }
    return Number.POSITIVE_INFINITY;
  }

  test("ends after half a minute", () => {
    expect(servesFor({ own: one, others: [two, two] }, { one: 1, two: 2 })).toBe(Number.POSITIVE_INFINITY);
    expect(servesFor({ own: one, others: [two, two] }, { one: 1 })).toBe(31);
  });

  test("ends at once if the file has another history than a majority, and continues if it has that of one other", () => {
    const other = { last: at("two", 22), chainAtOwn: 11 };
    expect(servesFor({ own: one, others: [other, other] }, { one: 1 })).toBe(1);
    expect(servesFor({ own: one, others: [other, other] }, { two: 2 })).toBe(1);
    expect(servesFor({ own: one, others: [two, other] }, { one: 1, two: 2 })).toBe(Number.POSITIVE_INFINITY);
  });

  test("waits for the highest revision that any node has, which a leader with a full disk may lack", () => {
    const { lease } = aLease();
    lease.answered(lease.begin(), heard(8, { own: one, others: [two, two] }));
    lease.seen(showing(7, { one: 1, two: 2 }));
    expect(lease.holds()).toBe(false);
    lease.seen(showing(8, { one: 1, two: 2 }));
    expect(lease.holds()).toBe(true);
  });
});

/** A disk is full: the transactions from one number to another are missing on one node, whatever else is written. */
test("any missing transaction shows in the chain of all later ones", () => {
  fc.assert(
    fc.property(fc.array(fc.uuid(), { minLength: 2, maxLength: 30 }), fc.nat(), (ids, place) => {
      const missing = place % (ids.length - 1);
      using complete = aFileWithout(ids, -1);
      using lacking = aFileWithout(ids, missing);
      const chainOf = (file: Database) => file.query<{ chain: number }, []>(lastChain).get()?.chain;
      expect(chainOf(lacking)).not.toBe(chainOf(complete));
    }),
    { numRuns: 50 },
  );
});

const lastChain = "SELECT chain FROM cluster_writes ORDER BY number DESC LIMIT 1";

function aFileWithout(ids: readonly string[], missing: number): Database {
  const file = new Database(":memory:");
  for (const statement of tableStatements) file.run(statement);
  for (const [place, id] of ids.entries()) {
    if (place === missing) continue;
    for (const { sql: text, json } of transactionOf(id, []))
      file.query(text).run(...(text.includes("?1") ? [json] : []));
  }
  return file;
}
