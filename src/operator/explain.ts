/** The problems of a store in words: what is wrong, and what the operator does next. */

import { type Problem, type ProblemKind, StoreError } from "../store/errors.ts";
import { UserError } from "../user-error.ts";

/** Turns a problem of a store into an error in words; gives anything else back as it is. */
export function explain(cause: unknown): unknown {
  return cause instanceof StoreError ? inWords(cause.problem) : cause;
}

/** The sentence and the advice for each problem. */
function inWords<Kind extends ProblemKind>(problem: Problem<Kind>): UserError {
  const [what, advice] = words[problem.kind](problem);
  return new UserError(what, advice);
}

type Words = readonly [what: string, advice: string];

const words: { readonly [Kind in ProblemKind]: (problem: Problem<Kind>) => Words } = {
  "locked for too long": ({ path }) => [
    `${path} has been locked by another program for too long.`,
    "End that program and try again.",
  ],
  "usage not written": ({ reason }) => [
    `The last counts of usage could not be written, and are lost (${reason}).`,
    "See that the disk has room, that no other program keeps the file locked, and that a majority of a cluster runs.",
  ],
};
