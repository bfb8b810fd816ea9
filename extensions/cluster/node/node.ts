/** An rqlite node as it is asked over HTTP: where it is, and what its answers to a write and to a question mean. */
import type { ClusterConfig } from "../../../src/config.ts";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";

export interface RqliteNode {
  /** `http://127.0.0.1:4001`, without a path. */
  readonly url: string;
  /** The value of the header Authorization; null where the node asks for none. */
  readonly authorization: string | null;
}

/** The node that the settings name. */
export function nodeAt({ url, credentials }: ClusterConfig): RqliteNode {
  return { url, authorization: credentials === null ? null : `Basic ${Buffer.from(credentials).toString("base64")}` };
}

export interface NodeRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly timeoutMs: number;
  /** The file that the answer is written to where it is a large one; the text is empty then. */
  readonly saveTo?: string;
}

/** The status is 0 where nobody answered, and the text says why. */
export interface NodeAnswer {
  readonly status: number;
  readonly text: string;
  /** Nobody listens there: what was asked has not left. */
  readonly isRefused?: boolean;
}

/** One SQL statement, and all that it binds as one JSON text, which it takes apart itself. */
export interface Statement {
  readonly sql: string;
  readonly json: string;
}

/**
 * The outcome of a write. refused: a constraint was violated, and every node rolled it back; unknown: it may be applied, now
 * or later. If the disk of the leader failed, the others apply what the leader could not.
 */
export type Written =
  | { readonly kind: "done"; readonly changes: readonly number[] }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string; readonly isLeaderFault: boolean };

/** Errors of SQLite that one node alone has. */
const faultOfNode =
  /is full|I\/O error|unable to open|malformed|readonly|out of memory|database is locked|interrupted/i;
/** Errors that every node has, because the statements contradict the data. */
const refusal = /constraint failed|^cannot store/i;

/** A request to a node. */
export function requestTo(
  { url, authorization }: RqliteNode,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body: string | null,
  timeoutMs: number,
): NodeRequest {
  const headers: Record<string, string> = authorization === null ? {} : { Authorization: authorization };
  if (body !== null) headers["Content-Type"] = "application/json";
  return { method, url: `${url}${path}`, headers, body, timeoutMs };
}

/**
 * The request for a transaction of statements: all of them or none. No node may stop within it by a clock of its own, such as
 * rqlite's db_timeout: one that was slow would roll back what the others have.
 */
export function writeRequest(node: RqliteNode, statements: readonly Statement[], timeoutMs: number): NodeRequest {
  const body = JSON.stringify(statements.map(({ sql, json }) => [sql, json]));
  return requestTo(node, "POST", `/db/execute?transaction&timeout=${timeoutMs}ms`, body, timeoutMs + 100);
}

/**
 * The request for one value: as this node has it, or as the majority knows it, which may be asked through the log of the
 * cluster ("strong").
 */
export function questionRequest(
  node: RqliteNode,
  { sql, json }: Statement,
  level: "strong" | "linearizable" | "none",
  timeoutMs: number,
): NodeRequest {
  const wait = level === "linearizable" ? `&linearizable_timeout=${timeoutMs}ms` : "";
  return requestTo(node, "POST", `/db/query?level=${level}${wait}`, JSON.stringify([[sql, json]]), timeoutMs);
}

interface Result {
  readonly rows_affected?: number;
  readonly values?: readonly (readonly unknown[])[];
  readonly error?: string;
}

/** What became of a write. A node that does not lead hands it on, so that most failures say nothing of the outcome. */
export function readWritten(answer: NodeAnswer): Written {
  const results = readResults(answer);
  if (typeof results === "string")
    return { kind: "unknown", reason: results, isLeaderFault: faultOfNode.test(results) };
  const failed = results.find(({ error }) => error !== undefined);
  if (failed?.error !== undefined) return outcomeOf(failed.error);
  return { kind: "done", changes: results.map(({ rows_affected }) => rows_affected ?? 0) };
}

function outcomeOf(reason: string): Written {
  if (refusal.test(reason)) return { kind: "refused", reason };
  if (faultOfNode.test(reason)) return { kind: "unknown", reason, isLeaderFault: true };
  throw new Error(`the cluster cannot run a statement: ${reason}`);
}

/** Asks the leader to hand its role to another node, after its disk has failed. */
export async function handOverLeadership(node: RqliteNode): Promise<void> {
  await ask(requestTo(node, "POST", "/leader?wait=true", "", handOverMs));
}

const handOverMs = 5_000;

/** The one value of an answer; undefined where there is no row. Throws where the node did not answer. */
export function readValue(answer: NodeAnswer): unknown {
  const results = readResults(answer);
  if (typeof results === "string") throw new Error(results);
  const [first] = results;
  if (first?.error !== undefined) throw new Error(first.error);
  return first?.values?.[0]?.[0];
}

/** The one number of an answer. Throws where there is none. */
export function readNumber(answer: NodeAnswer): number {
  const value = readValue(answer);
  if (typeof value !== "number") throw new Error("the node answered without a number");
  return value;
}

/** The results, or why there are none. */
function readResults({ status, text }: NodeAnswer): readonly Result[] | string {
  if (status === 401) return "the node does not know the user and password of CLUSTER_AUTH";
  if (status !== 200) return text.trim().slice(0, 200) || `the node answered ${status}`;
  try {
    // So rqlite's reference promises.
    const { results, error }: { readonly results?: readonly Result[]; readonly error?: string } = JSON.parse(text);
    // A node that could not hand it on to the leader says so with a status of 200.
    if (error !== undefined) return error;
    return results === undefined || results.length === 0 ? "the node answered without results" : results;
  } catch {
    return "the node answered no JSON";
  }
}

/** Asks without keeping anybody waiting; nobody has answered where it is stopped. */
export async function ask(
  { url, timeoutMs, saveTo, ...request }: NodeRequest,
  stop = new AbortController().signal,
): Promise<NodeAnswer> {
  try {
    const answer = await fetch(url, { ...request, signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), stop]) });
    if (saveTo !== undefined && answer.status === 200) {
      await Bun.write(saveTo, answer);
      return { status: answer.status, text: "" };
    }
    return { status: answer.status, text: await answer.text() };
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : "unknown";
    return { status: 0, text, isRefused: cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED" };
  }
}

/** The error for a local node that does not answer, or not as it should. */
export function unreachableNode(reason: string): DatabaseUnavailable {
  return new DatabaseUnavailable(
    `The rqlite node at CLUSTER does not answer (${reason}).`,
    "Start rqlited, or set CLUSTER to the address of the local node.",
  );
}
