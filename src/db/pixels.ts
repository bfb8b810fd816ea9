/** Pixels (§2.3): an ID is unique within its account. */
import { and, asc, eq } from "drizzle-orm";
import type { Pixel } from "../contract/pixel.ts";
import type { AccountNumber } from "./accounts.ts";
import { type Connection, type LeadDatabase, tryToWrite } from "./connection.ts";
import { placeholder } from "./placeholder.ts";
import { pixels } from "./schema.ts";

/** A pixel is found by account and id; the placeholders are named so in every statement that uses it. */
export const pixelOfAccount = and(
  eq(pixels.account, placeholder.integer("account")),
  eq(pixels.id, placeholder.text("pixel_id")),
);

/** Reads pixels; it writes nothing. */
export function openPixelReader(database: Connection) {
  const one = database.select({ number: pixels.number }).from(pixels).where(pixelOfAccount).prepare();
  const all = database
    .select({ id: pixels.id, status: pixels.status })
    .from(pixels)
    .where(eq(pixels.account, placeholder.integer("account")))
    .orderBy(asc(pixels.number))
    .prepare();
  return {
    list: (account: AccountNumber): Pixel[] => all.all({ account }),
    has: (account: AccountNumber, id: string): boolean => one.values({ account, pixel_id: id }).length > 0,
  };
}

/** Lists the pixels of an account in the order of their creation. */
export function listPixels(read: Connection, account: AccountNumber): Pixel[] {
  return openPixelReader(read).list(account);
}

/** Creates a pixel; false if the account has one with this ID. */
export function createPixel(
  database: LeadDatabase,
  account: AccountNumber,
  pixel: Pixel,
  nowMs: number,
): Promise<boolean> {
  return tryToWrite(database, [insertPixel(database.read, account, pixel, nowMs)]);
}

/** Changes the status of a pixel; false if the account has no such pixel. */
export async function setPixelStatus(
  database: LeadDatabase,
  account: AccountNumber,
  { id, status }: Pixel,
): Promise<boolean> {
  const { read } = database;
  if (!openPixelReader(read).has(account, id)) return false;
  const pixel = and(eq(pixels.account, account), eq(pixels.id, id));
  await database.write([read.update(pixels).set({ status }).where(pixel)]);
  return true;
}

/** Returns the statement that creates a pixel. */
export function insertPixel(
  database: Connection,
  account: AccountNumber,
  pixel: Pixel & { readonly number?: number },
  nowMs: number,
) {
  return database.insert(pixels).values({ account, ...pixel, createdAt: nowMs });
}
