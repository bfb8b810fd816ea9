/** The ledger of a server next to a node: it notes what is sent, and makes the statements that write it into the cluster. */
import { type SQL, sql } from "drizzle-orm";
import { version } from "../../package.json";
import type { Connection } from "../../src/db/connection.ts";
import { ledgerGaps } from "../../src/db/schema.ts";
import {
  beatMs,
  completeStatement,
  createClockWatch,
  startStatements,
  stopStatement,
} from "../../src/privacy/sent/gaps.ts";
import { createSentPages, sentStatements } from "../../src/privacy/sent/ledger.ts";
import { nodes } from "./tables.ts";

export type NodeLedger = ReturnType<typeof openNodeLedger>;

/** Opens the ledger of a node. Without `keepsLedger`, it only keeps the time of that as a gap. */
export function openNodeLedger(name: string, keepsLedger: boolean, connection: () => Connection, now: () => number) {
  const pages = createSentPages();
  const clockStatements = createClockWatch(name);
  /** The time of the last statement that showed that this server runs; null before the server is registered. */
  let shownMs: number | null = null;
  return {
    note: keepsLedger ? pages.note : () => undefined,
    /** Returns the statements with which the server is registered. */
    startStatements: (): SQL[] => [...startStatements(keepsLedger, now(), name), endOfUpgrade(now())],
    /** Begins to show that this server runs. Call it when the server is registered. */
    begin: () => void (shownMs = now()),
    /**
     * Returns statements for some of the noted pages, and others that are due, and whether more pages are left. The pages stay
     * pending until `drop`.
     */
    next(): { readonly statements: readonly SQL[]; readonly isMoreLeft: boolean } {
      if (shownMs === null) return { statements: [], isMoreLeft: false };
      const nowMs = now();
      const part = pages.next();
      const ofPart = part === null ? [] : sentStatements(connection(), part, name);
      const isDue = part === null ? nowMs - shownMs >= beatMs : pages.isLast();
      if (isDue) shownMs = nowMs;
      const complete = isDue ? [completeStatement(nowMs, name)] : [];
      const statements = [...clockStatements(connection(), nowMs), ...ofPart, ...complete];
      return { statements, isMoreLeft: part !== null && !pages.isLast() };
    },
    drop: pages.drop,
    /** Returns the statement with which the server stops in order, after its last page. */
    stopStatement: (): SQL => stopStatement(keepsLedger, now(), name),
  };
}

/** The earlier version may still serve from another node. */
function endOfUpgrade(nowMs: number): SQL {
  return sql`
    UPDATE ${ledgerGaps} SET ends_at = max(${nowMs}, begins_at) WHERE reason = 'upgrade' AND ends_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM ${nodes} WHERE ${nodes.version} <> ${version})`;
}
