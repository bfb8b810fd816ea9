/** The numbers of the pixels that an import meets: most rows have one of a few. */

import type { Connection } from "../../db/connection.ts";
import { openPixels, pixelOfAccount } from "../../db/pixels.ts";
import { pixels } from "../../db/schema.ts";
import type { AccountNumber } from "../../store/reading.ts";

/** At most this many are remembered; a file may name another one in each row. */
const mostRemembered = 10_000;

export interface PixelNumbers {
  /** The number of a pixel by its id; null where the account has none. */
  find(id: string): number | null;
  /** Makes a pixel, and gives its number. */
  make(id: string, nowMs: number): number;
}

/** Finds and makes the pixels of an account. */
export function openPixelNumbers(database: Connection, account: AccountNumber): PixelNumbers {
  const stored = openPixels(database);
  const one = database.select({ number: pixels.number }).from(pixels).where(pixelOfAccount).prepare();
  const remembered = new Map<string, number>();

  function find(id: string): number | null {
    const known = remembered.get(id);
    if (known !== undefined) return known;
    const [found] = one.values({ account, pixelId: id });
    if (found === undefined) return null;
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.set(id, found[0]);
    return found[0];
  }

  return {
    find,
    make(id, nowMs) {
      stored.create(account, { id, status: "active" }, nowMs);
      const made = find(id);
      if (made === null) throw new Error("a pixel that was just made is gone");
      return made;
    },
  };
}
