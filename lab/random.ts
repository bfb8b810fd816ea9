/** Pseudorandom values: the same seed gives the same attack. */

export interface Random {
  /** A number from 0 up to, but not including, 1. */
  next(): number;
  /** A whole number from 0 up to, but not including, a bound. */
  below(bound: number): number;
  pick<Thing>(things: readonly [Thing, ...Thing[]]): Thing;
  /** The same things in another order. */
  shuffle<Thing>(things: readonly Thing[]): Thing[];
  bytes(length: number): Buffer;
  /** A generator for a part of the work, which does not depend on how many values other parts have drawn. */
  branch(name: string | number): Random;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  // Mulberry32: small, and random enough for tests.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number) => Math.floor(next() * bound);
  return {
    next,
    below,
    pick: (things) => things[below(things.length)] ?? things[0],
    shuffle(things) {
      const left = [...things];
      return things.flatMap(() => left.splice(below(left.length), 1));
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
    branch: (name) => seeded(Number(Bun.hash(`${seed} ${name}`) & 0xffffffffn)),
  };
}
