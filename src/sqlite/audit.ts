/** What was done with the file, when and to which account; who was found or erased is never written down. */
import { desc, eq } from "drizzle-orm";
import type { AuditEntry, AuditRepository } from "../store/privacy.ts";
import type { Connection } from "./connection.ts";
import { audit } from "./schema.ts";

/** Writes an act down, within the transaction of the act where there is one. */
export function recordAct(database: Pick<Connection, "insert">, { atMs, act, account, detail }: AuditEntry): void {
  database
    .insert(audit)
    .values({ at: atMs, act, account, detail: JSON.stringify(detail) })
    .run();
}

/**
 * Writes a thing, such as a key, and records the act, both or none. Gives the thing as it is then; null where there is none,
 * and then nothing is recorded.
 */
export function writeOnRecord<Thing extends { readonly account: string }>(
  database: Connection,
  act: Omit<AuditEntry, "account">,
  { write, find }: { readonly write: () => void; readonly find: () => Thing | null },
): Thing | null {
  return database.transaction(
    () => {
      write();
      const thing = find();
      if (thing !== null) recordAct(database, { ...act, account: thing.account });
      return thing;
    },
    { behavior: "immediate" },
  );
}

export function openAudit(database: Connection): AuditRepository {
  return {
    record: (entry) => recordAct(database, entry),
    list: (most, account) =>
      database
        .select({ atMs: audit.at, act: audit.act, account: audit.account, detail: audit.detail })
        .from(audit)
        .where(account === null ? undefined : eq(audit.account, account))
        .orderBy(desc(audit.number))
        .limit(most)
        .all()
        .map((row) => ({ ...row, detail: JSON.parse(row.detail) })),
  };
}
