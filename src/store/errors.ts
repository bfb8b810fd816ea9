/**
 * What a store refuses or cannot do, as facts. The caller finds the sentence, the command and the setting for it: a
 * store knows none of them.
 */

/** Each problem by its kind, with the facts that a sentence about it needs. */
interface Problems {
  /** Another program kept the file locked for longer than a command waits. */
  readonly "locked for too long": { readonly path: string };
  /** A server stops, and its last counts are lost. */
  readonly "usage not written": { readonly reason: string };
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

export { innermost } from "../db/failure.ts";
