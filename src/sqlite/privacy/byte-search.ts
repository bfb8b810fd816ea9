/** Many byte strings looked for at once: a file of a gigabyte takes a second or two, however many there are. */

const blockLength = 3;
export const leastLength = 6;

export type Search = (text: Uint8Array, found: Set<number>) => void;

/**
 * Adds the numbers of the needles that stand in a text to those that were found (the algorithm of Wu and Manber: it
 * looks at the end of a window as long as the shortest needle, and leaps as far as no needle can end). The ends of
 * needles are compared first, because ids that begin with a time differ there.
 */
export function createSearch(needles: readonly Uint8Array[]): Search {
  const window = Math.min(255, ...needles.map(({ length }) => length));
  if (window < leastLength) throw new Error("a needle is too short to be looked for");
  const leaps = new Uint8Array(1 << 16).fill(window - blockLength + 1);
  const ending = new Map<number, number[]>();
  for (const [number, needle] of needles.entries()) {
    for (let back = window - blockLength; back >= 0; back--) {
      const block = blockAt(needle, needle.length - back);
      leaps[block] = Math.min(leaps[block] ?? 0, back);
      if (back > 0) continue;
      const alike = ending.get(block);
      if (alike === undefined) ending.set(block, [number]);
      else alike.push(number);
    }
  }
  return (text, found) => {
    for (let end = window; end <= text.length; ) {
      const block = blockAt(text, end);
      const leap = leaps[block] ?? 1;
      if (leap === 0) collect(text, end, needles, ending.get(block) ?? [], found);
      end += leap === 0 ? 1 : leap;
    }
  };
}

/** The three bytes before a place, as a number of 16 bits. */
function blockAt(bytes: Uint8Array, end: number): number {
  // All three are there: a window is never shorter than a block.
  return ((bytes[end - 3] as number) ^ ((bytes[end - 2] as number) << 4) ^ ((bytes[end - 1] as number) << 8)) & 0xffff;
}

function collect(
  text: Uint8Array,
  end: number,
  needles: readonly Uint8Array[],
  candidates: readonly number[],
  found: Set<number>,
): void {
  for (const number of candidates) {
    const needle = needles[number] ?? new Uint8Array();
    let back = 1;
    while (back <= needle.length && text[end - back] === needle[needle.length - back]) back++;
    if (back > needle.length) found.add(number);
  }
}
