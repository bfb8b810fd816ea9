/** Pixels (§2.3): an id is unique within its account. */
import { and, asc, eq } from "drizzle-orm";
import type { Pixel } from "../contract/pixel.ts";
import type { AccountNumber, PixelReader } from "../store/reading.ts";
import type { PixelRepository } from "../store/repositories.ts";
import type { Connection } from "./connection.ts";
import { placeholder } from "./reading/placeholder.ts";
import { pixels } from "./schema.ts";

/** A pixel is found by account and id; the placeholders are named so in every statement that uses it. */
export const pixelOfAccount = and(
  eq(pixels.account, placeholder.integer("account")),
  eq(pixels.id, placeholder.text("pixelId")),
);

/** Reads pixels; it writes nothing. */
export function openPixelReader(database: Connection): PixelReader {
  const one = database.select({ number: pixels.number }).from(pixels).where(pixelOfAccount).prepare();
  const all = database
    .select({ id: pixels.id, status: pixels.status })
    .from(pixels)
    .where(eq(pixels.account, placeholder.integer("account")))
    .orderBy(asc(pixels.number))
    .prepare();
  return {
    list: (account: AccountNumber): Pixel[] => all.all({ account }),
    has: (account, pixelId) => one.values({ account, pixelId }).length > 0,
  };
}

export function openPixels(database: Connection): PixelRepository {
  const reader = openPixelReader(database);
  return {
    ...reader,
    create(account, pixel, nowMs) {
      const create = () => {
        const isNew = !reader.has(account, pixel.id);
        if (isNew)
          database
            .insert(pixels)
            .values({ account, ...pixel, createdAt: nowMs })
            .run();
        return isNew;
      };
      return database.transaction(create, { behavior: "immediate" });
    },
    setStatus(account, { id, status }) {
      const isThere = reader.has(account, id);
      const where = and(eq(pixels.account, account), eq(pixels.id, id));
      if (isThere) database.update(pixels).set({ status }).where(where).run();
      return isThere;
    },
  };
}

/** At most this many are remembered; a file may name another one in each row. */
const mostRemembered = 10_000;

export interface PixelNumbers {
  /** The number of a pixel by its id; null where the account has none. */
  find(id: string): number | null;
  /** Makes a pixel, and gives its number. */
  make(id: string, nowMs: number): number;
}

/** The numbers of the pixels that an import meets: most rows have one of a few. */
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
