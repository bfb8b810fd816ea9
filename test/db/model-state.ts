/** What the model keeps: arrays, in the order in which things were made. */
import { randomText } from "../../src/contract/key.ts";
import type { Account } from "../../src/db/accounts.ts";
import type { KeyRecord } from "../../src/db/keys.ts";
import type { Row } from "./model-import.ts";

interface ModelPixel {
  readonly account: number;
  readonly id: string;
  readonly status: string;
}

export type ModelKey = KeyRecord & { readonly number: number; readonly of: number; readonly digest: Buffer };

export interface ModelState {
  readonly accounts: Account[];
  readonly pixels: ModelPixel[];
  readonly keys: ModelKey[];
  readonly rows: Row[];
  /** The days on which keys asked, once for each request. */
  readonly counted: { key: number; day: string }[];
}

export const emptyState = (): ModelState => ({ accounts: [], pixels: [], keys: [], rows: [], counted: [] });

export const pixelsOf = ({ pixels }: ModelState, account: number) =>
  pixels.filter((pixel) => pixel.account === account).map(({ id, status }) => ({ id, status }));

export const hasPixel = (state: ModelState, account: number, id: string): boolean =>
  pixelsOf(state, account).some((pixel) => pixel.id === id);

export const keyWith = ({ keys }: ModelState, digest: Buffer): ModelKey | undefined =>
  keys.find((key) => key.digest.equals(digest));

export const daysOf = ({ counted }: ModelState, key: number): string[] =>
  counted.filter((count) => count.key === key).map((count) => count.day);

/** An id that nothing else has. */
export const newId = (kind: "acc" | "key", length: number): string => `${kind}_${randomText(length)}`;
