/** When leads came in last. */
import { desc, isNotNull } from "drizzle-orm";
import type { Connection } from "../connection.ts";
import { imports } from "../schema.ts";

/** Prepares the look at the last import that is done and brought leads: Unix milliseconds, or null where none is. */
export function openLastImport(database: Connection): () => number | null {
  const last = database
    .select({ ms: imports.finishedAt })
    .from(imports)
    .where(isNotNull(imports.finishedAt))
    .orderBy(desc(imports.number))
    .limit(1)
    .prepare();
  return () => last.get()?.ms ?? null;
}
