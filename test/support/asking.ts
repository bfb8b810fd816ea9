/** The requests for the write lock of a database, as an import sees them. */
import { statSync, writeFileSync } from "node:fs";
import { lockRequestsOf } from "../../src/db/files.ts";
import { until } from "./eventually.ts";

/** Accepts requests like a running import. The returned function resolves at the next request. */
export function askingFor(file: string): () => Promise<void> {
  const asking = lockRequestsOf(file);
  writeFileSync(asking, "");
  return () => {
    const before = statSync(asking).size;
    return until(() => statSync(asking).size > before);
  };
}
