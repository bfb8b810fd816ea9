/** Pixels (§2.3): an id is unique within its account. */
import { and, asc, eq } from "drizzle-orm";
import type { Pixel } from "../contract/pixel.ts";
import type { AccountNumber, PixelReader } from "../store/reading.ts";
import type { PixelRepository } from "../store/repositories.ts";
import type { Connection } from "./connection.ts";
import { placeholder } from "./placeholder.ts";
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
