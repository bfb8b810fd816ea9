/** Who and what an import must keep out: persons who were erased, and leads older than their account keeps. */
import { eq } from "drizzle-orm";
import { dayMs } from "../../contract/time.ts";
import type { ImportOutcome, NewLead } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { identifiersOf } from "../privacy/identifiers.ts";
import { hasBlocks, openSuppressions } from "../privacy/suppressions.ts";
import { accounts } from "../schema.ts";

export function openGuard(database: Connection, account: AccountNumber) {
  const rules = database
    .select({ id: accounts.id, retainDays: accounts.retainDays, blocked: hasBlocks().mapWith(Boolean) })
    .from(accounts)
    .where(eq(accounts.number, account))
    .prepare();
  let isBlocked: ReturnType<typeof openSuppressions> | null = null;
  let oldestMs = Number.NEGATIVE_INFINITY;
  return {
    /** To be called first in each transaction: what was erased until then holds for it. */
    refresh(nowMs: number): void {
      const now = rules.get();
      const retainDays = now?.retainDays ?? null;
      oldestMs = retainDays === null ? Number.NEGATIVE_INFINITY : nowMs - retainDays * dayMs;
      // Hashing costs a good part of a row, and most accounts have erased nobody.
      if (now?.blocked !== true) isBlocked = null;
      else isBlocked ??= openSuppressions(database, { number: account, id: now.id });
    },
    /** Why a lead stays out; null lets it in. */
    objection(lead: NewLead): ImportOutcome | null {
      if (isBlocked?.([...identifiersOf(JSON.parse(lead.document)), ...lead.aliases])) return { kind: "suppressed" };
      if (lead.identifiedMs === null || lead.identifiedMs >= oldestMs) return null;
      return { kind: "rejected", why: "too old" };
    },
    /** Whether no lead from a moment on can meet an objection. */
    letsAllInFrom: (ms: number): boolean => isBlocked === null && ms >= oldestMs,
  };
}
