/** The HTTP client of an rqlite node, and the meaning of its answers. */
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import type { ClusterConfig } from "../../src/config.ts";
import { DatabaseUnavailable, type Statement, WriteRefused } from "../../src/db/connection.ts";

export interface RqliteNode {
  /** The -node-id of the node. */
  readonly name: string;
  /** `http://127.0.0.1:4001`, without a path. */
  readonly url: string;
  /** The value of the header Authorization; null if the node requires none. */
  readonly authorization: string | null;
  /** The state of the cluster according to the last lists, which all of its nodes share. */
  readonly known: {
    /** The longest round trip to another node; 0 before it is measured. */
    roundTripMs: number;
    /** The addresses of the nodes that were reachable, by their names. */
    readonly urls: Map<string, string>;
  };
}

/** Returns the node that the settings name. */
export function nodeAt({ name, url, credentials }: ClusterConfig): RqliteNode {
  const authorization = credentials === null ? null : `Basic ${Buffer.from(credentials).toString("base64")}`;
  return { name, url, authorization, known: { roundTripMs: 0, urls: new Map() } };
}

/**
 * rqlite reads a text such as x'41' as a blob, and a city could be such a text. So all values are sent as one JSON text, which
 * the statement takes apart itself. A list stays a list, as the argument of json_each.
 */
class JsonDialect extends SQLiteSyncDialect {
  override escapeParam(index: number, value?: unknown): string {
    const extracted = `json_extract(?1, '$[${index}]')`;
    return value instanceof Uint8Array ? `unhex(${extracted})` : extracted;
  }
}

/** Returns a statement as rqlite gets it. */
export function textAndValues(statement: Statement): readonly [text: string, values: string] {
  const { sql, params } = new JsonDialect().sqlToQuery(statement.getSQL());
  const values = params.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value));
  return [sql, JSON.stringify(values)];
}

/** A node did not answer, or not as it should. A command shows this error for the local node. */
export class NoAnswer extends DatabaseUnavailable {
  constructor(
    readonly reason: string,
    /** Nothing was sent if no program listens at the address. */
    readonly kind: "unsent" | "not allowed" | "unknown" = "unknown",
  ) {
    const isAllowed = kind !== "not allowed";
    super(
      `The rqlite node at CLUSTER ${isAllowed ? "does not answer" : "refused the request"} (${reason}).`,
      isAllowed
        ? "Start rqlited, or set CLUSTER to the address of the local node."
        : "Set CLUSTER_AUTH to the file of a user with this permission, such as admin.auth.",
    );
  }
}

/** Returns the reason of an error, for the text of another one. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof NoAnswer) return cause.reason;
  return cause instanceof Error ? cause.message : "unknown";
}

interface RequestOptions {
  readonly body?: string | Blob;
  /** The file to which a large answer is written. Its text is empty then. */
  readonly saveTo?: string;
  readonly stop?: AbortSignal;
}

/** Sends a request to a node, and returns the text of its answer. Throws NoAnswer unless its status is 200. */
export async function request(
  { url, authorization }: RqliteNode,
  method: "GET" | "POST" | "DELETE",
  path: string,
  timeoutMs: number,
  { body, saveTo, stop }: RequestOptions = {},
): Promise<string> {
  const headers: Record<string, string> = authorization === null ? {} : { Authorization: authorization };
  if (typeof body === "string") headers["Content-Type"] = "application/json";
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
  try {
    const answer = await fetch(`${url}${path}`, { method, headers, signal, ...(body === undefined ? {} : { body }) });
    if (answer.status === 401) {
      throw new NoAnswer("the user in CLUSTER_AUTH is unknown or lacks a permission", "not allowed");
    }
    if (answer.status === 200 && saveTo !== undefined) return await Bun.write(saveTo, answer).then(() => "");
    const text = await answer.text();
    if (answer.status === 200) return text;
    throw new NoAnswer(text.trim().slice(0, 200) || `the node answered ${answer.status}`);
  } catch (cause) {
    if (cause instanceof NoAnswer) throw cause;
    const isRefused = cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
    throw new NoAnswer(reasonOf(cause), isRefused ? "unsent" : "unknown");
  }
}

/** Errors of SQLite that one node alone has. */
const faultOfNode =
  /is full|I\/O error|unable to open|malformed|readonly|out of memory|database is locked|interrupted/i;
/** Errors that every node has, because the statements contradict the data. */
const refusal = /constraint failed|^cannot store/i;

/**
 * Writes all of the statements or none of them. Throws WriteRefused if a constraint is violated: every node rolls it back. Throws
 * NoAnswer if the outcome is unknown: it may be applied, now or later. No node may end the transaction by its own clock, such as
 * by rqlite's db_timeout: a slow node would roll back what the others have.
 */
export async function execute(node: RqliteNode, statements: readonly Statement[], timeoutMs: number): Promise<void> {
  const body = JSON.stringify(statements.map(textAndValues));
  // VACUUM cannot be in a transaction.
  const path = `/db/execute?timeout=${timeoutMs}ms${statements.length === 1 ? "" : "&transaction"}`;
  try {
    const results = readResults(await request(node, "POST", path, timeoutMs + 100, { body }));
    const reason = results.find(({ error }) => error !== undefined)?.error;
    if (reason === undefined) return;
    if (refusal.test(reason)) throw new WriteRefused(reason);
    if (faultOfNode.test(reason)) throw new NoAnswer(reason);
    throw new Error(`the cluster cannot run a statement: ${reason}`);
  } catch (cause) {
    // The role of the leader must move if its disk failed: the others have applied what it could not.
    if (cause instanceof NoAnswer && faultOfNode.test(cause.reason)) await handOverLeadership(node);
    throw cause;
  }
}

/**
 * Asks the leader, or a node if it is the leader, to hand the role over. A failure is ignored: without another node to take
 * it, the leader keeps it.
 */
export async function handOverLeadership(node: RqliteNode, whose: "of any node" | "of this node" = "of any node") {
  const path = `/leader?wait=true${whose === "of this node" ? "&redirect" : ""}`;
  await request(node, "POST", path, 5_000, { body: "" }).catch(() => {});
}

/**
 * Asks for one value: as this node has it ("none"), or as the majority has it ("linearizable"), if need be through the log of
 * the cluster ("strong"). Returns undefined if there is no row. Throws NoAnswer.
 */
export async function query(
  node: RqliteNode,
  question: Statement,
  level: "strong" | "linearizable" | "none",
  timeoutMs: number,
): Promise<unknown> {
  const wait = level === "linearizable" ? `&linearizable_timeout=${timeoutMs}ms` : "";
  const body = JSON.stringify([textAndValues(question)]);
  const [first] = readResults(await request(node, "POST", `/db/query?level=${level}${wait}`, timeoutMs, { body }));
  if (first?.error !== undefined) throw new NoAnswer(first.error);
  return first?.values?.[0]?.[0];
}

interface Result {
  readonly values?: readonly (readonly unknown[])[];
  readonly error?: string;
}

/** Reads the results of an answer. Throws NoAnswer if there are none. */
function readResults(text: string): readonly Result[] {
  const { results = [], error } = parseAnswer<{ readonly results?: readonly Result[]; readonly error?: string }>(text);
  // A node that could not forward a request to the leader reports it with a status of 200.
  if (error !== undefined) throw new NoAnswer(error);
  if (results.length === 0) throw new NoAnswer("the node answered without results");
  return results;
}

/** Parses an answer that has the form that rqlite's reference promises. Throws NoAnswer if it is no JSON. */
export function parseAnswer<Form>(text: string): Form {
  try {
    return JSON.parse(text);
  } catch {
    throw new NoAnswer("the node did not answer with JSON");
  }
}
