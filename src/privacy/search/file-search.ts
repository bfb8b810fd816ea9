/** A whole file is searched, part by part. */
import { fstatSync, readSync } from "node:fs";
import type { Search } from "./byte-search.ts";

const chunkBytes = 1 << 20;

/** Calls `hit` at each place of each value, until that returns false. Gives the bytes of the file. */
export function searchFile(file: number, search: Search, hit: (value: number) => boolean): number {
  const size = fstatSync(file).size;
  const buffer = Buffer.alloc(search.reach + chunkBytes);
  let goesOn = true;
  for (let at = 0; at < size && goesOn; at += chunkBytes) {
    // What stands across the border of two parts is found in the second.
    const from = Math.max(0, at - search.reach);
    const length = readSync(file, buffer, 0, at + chunkBytes - from, from);
    search.look(buffer.subarray(0, length), at - from, length, (value) => {
      goesOn &&= hit(value);
    });
  }
  return size;
}
