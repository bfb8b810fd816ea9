/** Many values looked for at once in a text of bytes: a gigabyte takes some seconds, however many there are. */

/** A hash is made of this many bytes. Nothing shorter can be looked for. */
export const leastLength = 6;

/** Called for each place of a value: with its number, its begin and its end. */
type Hit = (value: number, start: number, end: number) => void;

/** Bytes, or a text that stands for its bytes in UTF-8. */
export type Form = string | Uint8Array;

export interface Search {
  /** The length of the longest form. A reader of parts lets them overlap by this. */
  readonly reach: number;
  /** Finds the values that end after `from` and not after `to`. The case of ASCII letters does not matter. */
  look(text: Uint8Array, from: number, to: number, hit: Hit): void;
}

/** Letters of ASCII in lower case, and everything else as it is. */
const folded = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

/** Knuth's multiplier, which spreads neighbouring hashes. */
const spread = 0x9e3779b1;

/** Each bucket has eight bits. A place is looked up in its bucket only where one of them says so. */
const markBits = 3;

/** The forms of all values, one after the other: many small arrays would need several times the memory. */
interface Forms {
  readonly bytes: Uint8Array;
  /** Where each form begins; one more for the end of the last. */
  readonly starts: Int32Array;
  readonly owners: Int32Array;
}

/** Each value is given by its forms, of which any is a hit. All forms are at least `leastLength` long. */
export function createSearch(values: Iterable<readonly Form[]>): Search {
  const forms = gather(values);
  const count = forms.owners.length;
  const bits = Math.min(21, Math.max(14, Math.ceil(Math.log2(count * 16 + 1))));
  const index = buildIndex(forms, bits);
  const { bytes, starts, owners } = forms;
  let reach = 0;
  for (let form = 0; form < count; form++)
    reach = Math.max(reach, (starts[form + 1] as number) - (starts[form] as number));

  // Elements are there (`as number`): places are counted from lengths alone.
  function stands(form: number, text: Uint8Array, start: number): boolean {
    const begin = starts[form] as number;
    for (let place = (starts[form + 1] as number) - begin - 1; place >= 0; place--) {
      if (folded[text[start + place] as number] !== bytes[begin + place]) return false;
    }
    return true;
  }

  return {
    reach,
    look(text, from, to, hit) {
      const { isUsed } = index;
      const shift = 32 - bits - markBits;
      const length = text.length;
      let hash = 0;
      // Every byte of a file passes here: no call, and each array read in one place.
      for (let place = 0; place < length; place++) {
        hash = (hash << 6) ^ (folded[text[place] as number] as number);
        const mark = Math.imul(hash, spread) >>> shift;
        if (((isUsed[mark >>> 3] as number) & (1 << (mark & 7))) !== 0) collect(mark >>> markBits, place + 1);
      }

      function collect(bucket: number, gramEnd: number): void {
        for (let form = index.first[bucket] as number; form >= 0; form = index.next[form] as number) {
          const start = gramEnd - (index.gramEnd[form] as number);
          const end = start + (starts[form + 1] as number) - (starts[form] as number);
          if (start < 0 || end <= from || end > to || end > length) continue;
          if (stands(form, text, start)) hit(owners[form] as number, start, end);
        }
      }
    },
  };
}

function markOf(hash: number, shift: number): number {
  return Math.imul(hash, spread) >>> shift;
}

function gather(values: Iterable<readonly Form[]>): Forms {
  const text = createBytes();
  const starts = [0];
  const owners: number[] = [];
  let value = 0;
  for (const forms of values) {
    for (const form of forms) {
      starts.push(text.add(form));
      owners.push(value);
    }
    value++;
  }
  return { bytes: text.all(), starts: Int32Array.from(starts), owners: Int32Array.from(owners) };
}

/** Bytes that grow. Texts are written into them as they are: an array for each would cost many times its bytes. */
function createBytes() {
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(1 << 12);
  let length = 0;
  return {
    /** Gives the length of all so far. */
    add(form: Form): number {
      // A character of a text has three bytes at most.
      const needed = length + (typeof form === "string" ? 3 : 1) * form.length;
      if (needed > bytes.length) {
        const larger = new Uint8Array(2 * needed);
        larger.set(bytes);
        bytes = larger;
      }
      const begin = length;
      if (typeof form === "string") length += encoder.encodeInto(form, bytes.subarray(length)).written;
      else bytes.set(form, length);
      if (typeof form !== "string") length += form.length;
      if (length - begin < leastLength) throw new Error("a value is too short to be looked for");
      for (let place = begin; place < length; place++) bytes[place] = folded[bytes[place] as number] as number;
      return length;
    },
    all: () => bytes.slice(0, length),
  };
}

/**
 * Each form is found by the hash of six of its bytes. Which six is free to choose: those whose bucket has the fewest
 * forms yet, so that an ending that all of them share, such as gmail.com, is asked for once and not by each.
 */
function buildIndex({ starts, owners, bytes }: Forms, bits: number) {
  const first = new Int32Array(1 << bits).fill(-1);
  const load = new Uint8Array(1 << bits);
  const isUsed = new Uint8Array(1 << (bits + markBits - 3));
  const next = new Int32Array(owners.length);
  const gramEnd = new Int32Array(owners.length);
  for (let form = 0; form < owners.length; form++) {
    const begin = starts[form] as number;
    let best = { mark: 0, end: 0, load: 256 };
    let hash = 0;
    for (let place = begin; place < (starts[form + 1] as number); place++) {
      hash = (hash << 6) ^ (bytes[place] as number);
      const end = place + 1 - begin;
      if (end < leastLength) continue;
      const mark = markOf(hash, 32 - bits - markBits);
      const here = load[mark >>> markBits] as number;
      if (here < best.load) best = { mark, end, load: here };
    }
    const bucket = best.mark >>> markBits;
    gramEnd[form] = best.end;
    next[form] = first[bucket] as number;
    first[bucket] = form;
    load[bucket] = Math.min(255, best.load + 1);
    isUsed[best.mark >>> 3] = (isUsed[best.mark >>> 3] as number) | (1 << (best.mark & 7));
  }
  return { first, next, gramEnd, isUsed };
}
