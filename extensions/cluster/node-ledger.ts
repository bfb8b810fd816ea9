/** The ledger of a server next to a node: the statements that write what was sent into the cluster, and that the server runs. */
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
import { type OutboxPart, partStatements } from "../../src/privacy/sent/outbox.ts";
import { nodes } from "./tables.ts";

export type NodeLedger = ReturnType<typeof openNodeLedger>;

/** Opens the ledger of a node. Without `keepsLedger`, it only keeps the time of that as a gap. */
export function openNodeLedger(name: string, keepsLedger: boolean, connection: () => Connection, now: () => number) {
  const clockStatements = createClockWatch(name);
  /** The time of the last statement that showed that this server runs; null before the server is registered. */
  let shownMs: number | null = null;
  return {
    /** Returns the statements with which the server is registered. */
    startStatements: (): SQL[] => [...startStatements(keepsLedger, now(), name), endOfUpgrade(now())],
    /** Begins to show that this server runs. Call it when the server is registered. */
    begin: () => void (shownMs = now()),
    /** Returns the statements that write a part of the outbox, and others that are due. Without a part, nothing is pending. */
    statements(part: OutboxPart | null): SQL[] {
      const nowMs = now();
      const written = part === null ? [] : partStatements(connection(), part, name);
      if (shownMs === null) return written;
      const isDue = part === null && nowMs - shownMs >= beatMs;
      if (isDue || typeof part?.completeMs === "number") shownMs = nowMs;
      return [...clockStatements(connection(), nowMs), ...written, ...(isDue ? [completeStatement(nowMs, name)] : [])];
    },
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
