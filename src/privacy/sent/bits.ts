/** Sets of lead numbers: one bit for each number, in blocks of 8,192, which are compressed where they are stored. */

/** A compressed block then fits into a page of the file. */
export const blockSize = 8_192;

/** A set of numbers. The n-th bit of a block stands for its n-th number. */
export type Blocks = Map<number, Uint8Array>;

/** Returns the block in which the bit of a number is. */
export function blockOf(number: number): number {
  return Math.floor(number / blockSize);
}

/** Adds numbers to a set. */
export function addNumbers(blocks: Blocks, numbers: readonly number[]): void {
  for (const number of numbers) {
    const block = blockOf(number);
    let bits = blocks.get(block);
    if (bits === undefined) blocks.set(block, (bits = new Uint8Array(blockSize / 8)));
    const offset = number - block * blockSize;
    bits[offset >> 3] = (bits[offset >> 3] ?? 0) | (1 << (offset & 7));
  }
}

/** Returns whether a block has the bit of a number, which must be one of that block. */
export function hasNumber(bits: Uint8Array, number: number): boolean {
  const offset = number % blockSize;
  return ((bits[offset >> 3] ?? 0) & (1 << (offset & 7))) !== 0;
}

/** Adds the bits of a block to another one. Returns whether it lacked some of them. */
export function addBits(to: Uint8Array, added: Uint8Array): boolean {
  let hasGrown = false;
  for (let at = 0; at < added.length; at++) {
    const byte = added[at] ?? 0;
    const known = to[at] ?? 0;
    if ((byte & ~known) === 0) continue;
    to[at] = known | byte;
    hasGrown = true;
  }
  return hasGrown;
}

/** Compresses a block. */
export function packBits(bits: Uint8Array): Buffer {
  return Bun.zstdCompressSync(bits, { level: 1 });
}

/** Decompresses a block. */
export function unpackBits(packed: Uint8Array): Uint8Array {
  return Bun.zstdDecompressSync(packed);
}
