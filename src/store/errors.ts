/**
 * What a store refuses or cannot do, as facts. The caller finds the sentence, the command and the setting for it: a
 * store knows none of them.
 */

/** Each problem by its kind, with the facts that a sentence about it needs. */
interface Problems {
  /** The file does not begin as an SQLite database. */
  readonly "not a database": { readonly path: string };
  /** The file begins as a database, and SQLite finds it damaged further on. */
  readonly "file damaged": { readonly path: string; readonly reason: string };
  readonly "database of another program": { readonly path: string };
  readonly "database of a newer version": { readonly path: string };
  /** A build between two versions made it, and its schema leads to none of this one. */
  readonly "database of another build": { readonly path: string };
  /** Another program kept the file locked for longer than a command waits. */
  readonly "locked for too long": { readonly path: string };
  readonly "disk full": { readonly path: string };
  /** SQLite cannot open or write the file. */
  readonly "database unusable": { readonly path: string; readonly reason: string };
  /** The system does not let this user reach the file. */
  readonly "file unreachable": { readonly path: string; readonly reason: string };
  /** One process at a time serves a file, or restores it. */
  readonly "served by another process": { readonly path: string };
  /** A server stops, and its last counts are lost. */
  readonly "usage not written": { readonly reason: string };
  /** No majority of a cluster has answered in time. */
  readonly "cluster not heard": { readonly reason: string };
  /** No majority of a cluster has taken a write in time. */
  readonly "cluster not written": { readonly reason: string };
  /** A write is in, but the node beside has not shown it in time. */
  readonly "node behind": object;
  /** The node beside or the leader lacks some of what was written, as after a full disk. */
  readonly "nodes differ": object;
  /** The node beside does not answer, or not as it should. */
  readonly "node silent": { readonly reason: string };
  /** The node beside has no file yet, as it starts. */
  readonly "node at work": { readonly path: string };
  /** The node beside has another name than the server. */
  readonly "node of another name": { readonly name: string; readonly beside: string };
  /** The node beside has another file than the one that is to be read. */
  readonly "file of another node": { readonly path: string; readonly beside: string };
  /** A file that rqlite alone may write. */
  readonly "file of a node": { readonly path: string };
  /** A node that is to be the first one has something already. */
  readonly "node in use": { readonly url: string };
  readonly "no such node": { readonly name: string; readonly names: readonly string[] };
  /** The nodes that would stay and can be reached could write nothing. */
  readonly "no majority without": { readonly name: string };
  readonly "program missing": { readonly program: string };
  /** What cannot be done while others serve. */
  readonly "not on a cluster": { readonly act: string };
}

export type ProblemKind = keyof Problems;

/** One problem: its kind and its facts. */
export type Problem<Kind extends ProblemKind = ProblemKind> = {
  readonly [Each in Kind]: { readonly kind: Each } & Problems[Each];
}[Kind];

/**
 * Thrown to a command or a starting server by a store that refuses or cannot go on. Its message names the kind alone, and
 * nothing of a person.
 */
export class StoreError extends Error {
  override readonly name = "StoreError";

  constructor(
    readonly problem: Problem,
    options?: ErrorOptions,
  ) {
    super(problem.kind, options);
  }
}

/** What failed at the bottom, for the log: the layers around it may quote a statement and its values. */
export function innermost(failure: unknown): string {
  let inner = failure;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  return inner instanceof Error ? `${inner.name}: ${inner.message}` : "an error that is not an Error";
}
