/** The sizes of what can grow, for the metrics. */
import { count } from "drizzle-orm";
import { walOf } from "../store/database-files.ts";
import type { StoreSizes } from "../store/reading.ts";
import type { Connection } from "./connection.ts";
import { sizeOf } from "./file.ts";
import { openLastImport } from "./imports.ts";
import { leads as stored } from "./schema.ts";

export function measureSizes(database: Connection, path: string): () => StoreSizes {
  const leadCount = countLeads(database);
  const lastImport = evenWhereItFails(openLastImport(database), null);
  return () => ({
    fileBytes: sizeOf(path),
    logBytes: sizeOf(walOf(path)),
    leads: leadCount(),
    lastImportMs: lastImport(),
  });
}

/** When the database fails, the other metrics are needed most; /healthz says that it fails. */
function evenWhereItFails<Answer>(ask: () => Answer, otherwise: Answer): () => Answer {
  return () => {
    try {
      return ask();
    } catch {
      return otherwise;
    }
  };
}

/** Counting a million leads takes 10 ms in which nothing else is answered: once a minute is often enough. */
function countLeads(database: Connection): () => number {
  const all = database.select({ leads: count() }).from(stored).prepare();
  let counted = { atMs: Number.NEGATIVE_INFINITY, leads: 0 };
  const countNow = evenWhereItFails(() => all.get()?.leads ?? 0, null);
  return () => {
    const nowMs = performance.now();
    if (nowMs - counted.atMs <= 60_000) return counted.leads;
    const leads = countNow();
    if (leads !== null) counted = { atMs: nowMs, leads };
    return counted.leads;
  };
}
