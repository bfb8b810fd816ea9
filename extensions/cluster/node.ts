/** The HTTP client of an rqlite node, and the meaning of its answers. */
import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import type { ClusterConfig } from "../../src/config.ts";
import { DatabaseUnavailable } from "../../src/db/connection.ts";

export interface RqliteNode {
  /** `http://127.0.0.1:4001`, without a path. */
  readonly url: string;
  /** The value of the header Authorization; null if the node requires none. */
  readonly authorization: string | null;
}

/** Returns the node that the settings name. */
export function nodeAt({ url, credentials }: ClusterConfig): RqliteNode {
  return { url, authorization: credentials === null ? null : `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** One SQL statement, and its values as one JSON text, which the statement takes apart itself. */
export interface Statement {
  readonly sql: string;
  readonly json: string;
}

/**
 * Returns the rqlite form of a statement that Drizzle has built. rqlite takes a text such as x'41' for bytes, so that a city
 * could become a blob. So all values are sent as one JSON text.
 */
export function statementOf(query: SQL | { toSQL(): { sql: string; params: readonly unknown[] } }): Statement {
  const { sql, params } = "toSQL" in query ? query.toSQL() : new SQLiteSyncDialect().sqlToQuery(query);
  const values = params.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value));
  let place = 0;
  // A question mark within a text or a name in quotes is not a placeholder.
  const bound = sql.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\?\d+|\?/g, (part) => {
    if (part !== "?") return part;
    const at = place++;
    const value = `json_extract(?1, '$[${at}]')`;
    return params[at] instanceof Uint8Array ? `unhex(${value})` : value;
  });
  if (place !== params.length) throw new Error(`a statement has ${place} placeholders for ${params.length} values`);
  return { sql: bound, json: JSON.stringify(values) };
}

/** Returns a statement without values. */
export function plainStatement(sql: string): Statement {
  return { sql, json: "[]" };
}

/** The status is 0 if the node did not answer, and the text gives the reason. */
export interface NodeAnswer {
  readonly status: number;
  readonly text: string;
  /** True if no program listens at the address, so that nothing was sent. */
  readonly isRefused?: boolean;
}

interface RequestOptions {
  readonly body?: string | Blob;
  readonly contentType?: string;
  /** The file to which a large answer is written. Its text is empty then. */
  readonly saveTo?: string;
  readonly stop?: AbortSignal;
}

/** Sends a request to a node. Never throws. */
export async function request(
  { url, authorization }: RqliteNode,
  method: "GET" | "POST" | "DELETE",
  path: string,
  timeoutMs: number,
  { body, contentType = "application/json", saveTo, stop }: RequestOptions = {},
): Promise<NodeAnswer> {
  const headers: Record<string, string> = authorization === null ? {} : { Authorization: authorization };
  if (body !== undefined) headers["Content-Type"] = contentType;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
  try {
    const answer = await fetch(`${url}${path}`, { method, headers, signal, ...(body === undefined ? {} : { body }) });
    if (saveTo === undefined || answer.status !== 200) return { status: answer.status, text: await answer.text() };
    await Bun.write(saveTo, answer);
    return { status: 200, text: "" };
  } catch (cause) {
    const isRefused = cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
    return { status: 0, text: reasonOf(cause), isRefused };
  }
}

/** Sends a request like `request`. Throws DatabaseUnavailable unless its status is 200. */
export async function requestOk(...sent: Parameters<typeof request>): Promise<string> {
  const { status, text } = await request(...sent);
  if (status !== 200) throw unreachableNode(text.trim() || `status ${status}`);
  return text;
}

/** Returns the message of an error. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : "unknown";
}

/** The error for a local node that does not answer, or not as it should. */
export function unreachableNode(reason: string): DatabaseUnavailable {
  return new DatabaseUnavailable(
    `The rqlite node at CLUSTER does not answer (${reason}).`,
    "Start rqlited, or set CLUSTER to the address of the local node.",
  );
}

/**
 * The outcome of a write. refused: a constraint was violated, and every node rolled it back. unknown: it may be applied, now
 * or later. If the disk of the leader failed, the other nodes apply what the leader could not.
 */
export type Written =
  | { readonly kind: "done" }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string; readonly isLeaderFault: boolean; readonly isSent: boolean };

/**
 * Writes all of the statements or none of them. No node may end the transaction by its own clock, such as by rqlite's
 * db_timeout: a slow node would roll back what the others have.
 */
export async function execute(node: RqliteNode, statements: readonly Statement[], timeoutMs: number): Promise<Written> {
  const body = JSON.stringify(statements.map(({ sql, json }) => [sql, json]));
  const path = `/db/execute?transaction&timeout=${timeoutMs}ms`;
  const written = readWritten(await request(node, "POST", path, timeoutMs + 100, { body }));
  // The role of the leader must move: the others have applied what it could not.
  if (written.kind === "unknown" && written.isLeaderFault) await handOverLeadership(node);
  return written;
}

/** Errors of SQLite that one node alone has. */
const faultOfNode =
  /is full|I\/O error|unable to open|malformed|readonly|out of memory|database is locked|interrupted/i;
/** Errors that every node has, because the statements contradict the data. */
const refusal = /constraint failed|^cannot store/i;

/** Reads the outcome of a write. A follower forwards a write, so most failures do not tell the outcome. */
export function readWritten(answer: NodeAnswer): Written {
  const results = readResults(answer);
  const reason = typeof results === "string" ? results : results.find(({ error }) => error !== undefined)?.error;
  if (reason === undefined) return { kind: "done" };
  if (typeof results !== "string" && refusal.test(reason)) return { kind: "refused", reason };
  const isLeaderFault = faultOfNode.test(reason);
  if (typeof results === "string" || isLeaderFault) {
    return { kind: "unknown", reason, isLeaderFault, isSent: answer.isRefused !== true };
  }
  throw new Error(`the cluster cannot run a statement: ${reason}`);
}

/** Asks the leader to hand its role over to another node. */
export async function handOverLeadership(node: RqliteNode): Promise<void> {
  await request(node, "POST", "/leader?wait=true", 5_000, { body: "" });
}

/** The node did not answer a question. */
export class NoAnswer extends Error {
  constructor(
    reason: string,
    /** True if the request may have reached the node. */
    readonly isSent = true,
  ) {
    super(reason);
  }
}

/**
 * Asks for one value: as this node has it ("none"), or as the majority has it ("linearizable"), if need be through the log of
 * the cluster ("strong"). Returns undefined if there is no row. Throws NoAnswer.
 */
export async function query(
  node: RqliteNode,
  { sql, json }: Statement,
  level: "strong" | "linearizable" | "none",
  timeoutMs: number,
): Promise<unknown> {
  const wait = level === "linearizable" ? `&linearizable_timeout=${timeoutMs}ms` : "";
  const body = JSON.stringify([[sql, json]]);
  return readValue(await request(node, "POST", `/db/query?level=${level}${wait}`, timeoutMs, { body }));
}

/** Reads the value of an answer; undefined if there is no row. Throws NoAnswer. */
export function readValue(answer: NodeAnswer): unknown {
  const results = readResults(answer);
  if (typeof results === "string") throw new NoAnswer(results, answer.isRefused !== true);
  const [first] = results;
  if (first?.error !== undefined) throw new NoAnswer(first.error);
  return first?.values?.[0]?.[0];
}

interface Result {
  readonly values?: readonly (readonly unknown[])[];
  readonly error?: string;
}

/** Reads the results, or the reason why there are none. */
function readResults({ status, text }: NodeAnswer): readonly Result[] | string {
  if (status === 401) return "the node does not know the user and password of CLUSTER_AUTH";
  if (status !== 200) return text.trim().slice(0, 200) || `the node answered ${status}`;
  try {
    // As rqlite's reference promises.
    const { results, error }: { readonly results?: readonly Result[]; readonly error?: string } = JSON.parse(text);
    // A node that could not forward a request to the leader reports it with a status of 200.
    if (error !== undefined) return error;
    return results === undefined || results.length === 0 ? "the node answered without results" : results;
  } catch {
    return "the node answered no JSON";
  }
}
