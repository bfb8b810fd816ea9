/** What was done with the file, when and to which account; who was found or erased is never written down. */
import { desc, eq, type SQL } from "drizzle-orm";
import type { Act, AuditEntry, AuditRepository } from "../store/privacy.ts";
import type { AccountNumber } from "../store/reading.ts";
import type { Connection } from "./connection.ts";
import { accounts, audit } from "./schema.ts";

/** The statement that writes an act down. */
export function insertAct(database: Pick<Connection, "insert">, { atMs, act, account, detail }: AuditEntry) {
  return database.insert(audit).values({ at: atMs, act, account, detail: JSON.stringify(detail) });
}

/** Writes an act down, within the transaction of the act where there is one. */
export function recordAct(database: Pick<Connection, "insert">, entry: AuditEntry): void {
  insertAct(database, entry).run();
}

/**
 * Changes things of one kind, such as keys, each in one transaction with its record. On a cluster a transaction does not
 * see what it writes, so a thing is looked up before the transaction and after it.
 */
export function openRecorded<Thing extends { readonly account: string }>(
  database: Connection,
  kind: "key" | "source",
  find: (id: string) => Thing | null,
) {
  const record = (act: Act, id: string, account: string | null, atMs: number) =>
    recordAct(database, { atMs, act, account, detail: { [kind]: id } });

  return {
    /** Makes a thing in an account. */
    create(id: string, account: AccountNumber, nowMs: number, write: () => void): Thing {
      const create = () => {
        write();
        const owner = database.select({ id: accounts.id }).from(accounts).where(eq(accounts.number, account)).get();
        record(`${kind}.create`, id, owner?.id ?? null, nowMs);
      };
      database.transaction(create, { behavior: "immediate" });
      const made = find(id);
      if (made === null) throw new Error(`a ${kind} that was just made is not there`);
      return made;
    },
    /** Changes a thing, and gives it as it is then; null where there is none, and then nothing is recorded. */
    change(act: Act, id: string, nowMs: number, write: () => void): Thing | null {
      const change = () => {
        const thing = find(id);
        if (thing === null) return;
        write();
        record(act, id, thing.account, nowMs);
      };
      database.transaction(change, { behavior: "immediate" });
      return find(id);
    },
  };
}

/** What was written down last, of all or of what meets a condition: told by its number, because a clock may be set back. */
export function lastAct(database: Connection, condition?: SQL): { number: number; atMs: number } | undefined {
  const acts = database.select({ number: audit.number, atMs: audit.at }).from(audit).where(condition);
  return acts.orderBy(desc(audit.number)).limit(1).get();
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
