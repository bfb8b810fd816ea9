/** Who waits for the lock of a database says so. */
import { expect } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { eventually } from "./eventually.ts";

/** As if an import were writing: who waits for the lock adds to a file beside it. Resolves when somebody has, since. */
export function askingFor(file: string): () => Promise<void> {
  const asking = `${file}.asking`;
  writeFileSync(asking, "");
  return () => {
    const before = statSync(asking).size;
    return eventually(async () => expect(statSync(asking).size).toBeGreaterThan(before));
  };
}
