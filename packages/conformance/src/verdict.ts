/** The failure or the skipping of a check. */

export class Failed extends Error {}
export class Skipped extends Error {}

/** Fails the check unless something holds. */
export function need(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Failed(otherwise);
}

/** Skips the check, because it cannot be made here. */
export function skip(reason: string): never {
  throw new Skipped(reason);
}
