/** The requests for the write lock of a database, as an import sees them. */
import { expect } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { eventually } from "./eventually.ts";

/** Accepts requests like a running import. The returned function resolves at the next request. */
export function askingFor(file: string): () => Promise<void> {
  const asking = `${file}.asking`;
  writeFileSync(asking, "");
  return () => {
    const before = statSync(asking).size;
    return eventually(async () => expect(statSync(asking).size).toBeGreaterThan(before));
  };
}
