/**
 * Carries over what must outlive a restore, as SQL. `main` is the restored database, and `old` is the replaced file or a
 * newer backup. Either of them may be the older one.
 */
import { type SQL, sql } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { type Connection, changedRows } from "../db/connection.ts";
import { carryLedger, rememberLostLeads } from "./carry-ledger.ts";
import { openSoundness } from "./replaced.ts";

/** The acts that no restore may undo. They are also taken from newer backups, and a restore asks if they cannot be read. */
export type FinalActs = "erasures" | "revocations";

interface Part {
  readonly name: string;
  /** The final acts that the part has. */
  readonly has?: FinalActs;
  /** True if the part is also taken from newer backups although it has no final acts. */
  readonly isOfNewer?: boolean;
  /** Statements that prepare the rows to which the part refers. */
  readonly prepares?: readonly SQL[];
  /** The number of rows that these statements change is reported. */
  readonly merges: readonly SQL[];
  /** The merge that needs more than SQL, and the tables of `old` that it reads. */
  readonly alsoMerges?: (database: Connection, nowMs: number) => number;
  readonly alsoReads?: readonly string[];
}

/** A part that cannot be carried over, because the replaced file is damaged. */
export type UnreadPart = Pick<Part, "name" | "has">;

/** A part of the replaced file that a restore keeps, and the number of its rows that the backup lacked. */
export interface CarriedPart {
  readonly name: string;
  readonly count: number;
}

/**
 * Carries over all parts, or the final acts alone, and returns how many rows changed, and the parts that cannot be read. Often
 * the old file is damaged, which is the reason for the restore. Call it outside a transaction: SQLite refuses to write in a
 * transaction in which it has found damage.
 */
export function carryOver(
  database: Connection,
  nowMs: number,
  wanted: "all" | "final acts",
  isSound = openSoundness(database),
) {
  const carried: CarriedPart[] = [];
  const unread: UnreadPart[] = [];
  for (const part of partsAt(nowMs)) {
    if (wanted !== "all" && part.has === undefined && part.isOfNewer !== true) continue;
    const { name, prepares = [], merges, alsoMerges, alsoReads = [] } = part;
    if (![...[...prepares, ...merges].flatMap(tablesOf), ...alsoReads].every(isSound)) {
      unread.push(part);
      continue;
    }
    for (const statement of prepares) database.run(statement);
    let count = 0;
    for (const merge of merges) {
      database.run(merge);
      count += changedRows(database);
    }
    count += alsoMerges?.(database, nowMs) ?? 0;
    if (count > 0) carried.push({ name, count });
  }
  return { carried, unread };
}

/** The tables of `old` that a statement reads. */
function tablesOf(statement: SQL): string[] {
  const { sql: text } = new SQLiteSyncDialect().sqlToQuery(statement);
  return [...text.matchAll(/\bold\.(\w+)/g)].map(([, table = ""]) => table);
}

/** Joins a row of `old` with its account: the one with the same ID. */
const withAccount = sql`
  JOIN old.accounts AS old_account ON old_account.number = replaced.account
  JOIN main.accounts AS account ON account.id = old_account.id`;

/** Keeps accounts created since the backup if something of theirs is kept. A name that another one has gets the ID. */
const keepAccountsOf = (those: SQL) => sql`
  INSERT OR IGNORE INTO main.accounts (id, name, active, created_at)
  SELECT id, iif(name IN (SELECT name FROM main.accounts), name || ' ' || id, name), active, created_at
  FROM old.accounts WHERE number IN (SELECT account FROM ${those}) ORDER BY number`;

/** Takes over the earlier of two ends. */
const takeOverEnds = (table: string, column: "revoked_at" | "expires_at") =>
  sql.raw(`
    UPDATE main.${table} SET ${column} = replaced.${column} FROM old.${table} AS replaced
    WHERE replaced.digest = main.${table}.digest
      AND replaced.${column} < ifnull(main.${table}.${column}, ${Number.MAX_SAFE_INTEGER})`);

/** The newest decision for each hash wins, be it a block or the end of one. */
const newestDecision = sql.raw(`
  ON CONFLICT DO UPDATE SET erased_at = max(erased_at, excluded.erased_at),
    lifted_at = nullif(max(ifnull(lifted_at, -1), ifnull(excluded.lifted_at, -1)), -1)
  WHERE excluded.erased_at > erased_at OR ifnull(excluded.lifted_at, -1) > ifnull(lifted_at, -1)`);

/** Adds the acts that the restored file lacks, in the order of their numbers: a clock may have been wrong. */
function addActs(those: SQL): SQL {
  return sql`
    INSERT INTO main.audit (at, act, account, detail) SELECT at, act, account, detail FROM old.audit
    WHERE ${those} AND (at, act, ifnull(account, ''), detail)
      NOT IN (SELECT at, act, ifnull(account, ''), detail FROM main.audit)
    ORDER BY number`;
}

/** The parts in an order in which each finds the rows to which it refers. */
function partsAt(nowMs: number): readonly Part[] {
  return [namesOfDeletedAccounts, ...partsOfKeys(nowMs), sources, erasures, ...ledger, retention];
}

function partsOfKeys(nowMs: number): Part[] {
  // Keys created since the backup that are revoked or expired stay revoked forever (§5). A key that received leads stays,
  // too, and is revoked: the record of who received them names it.
  const keptKeys = sql`
    (SELECT * FROM old.keys
      WHERE revoked_at IS NOT NULL OR expires_at <= ${nowMs} OR number IN (SELECT key FROM old.sent))`;
  return [
    {
      name: "the audit",
      merges: [addActs(sql`TRUE`)],
    },
    {
      name: "revoked keys",
      has: "revocations",
      prepares: [keepAccountsOf(keptKeys)],
      merges: [
        takeOverEnds("keys", "revoked_at"),
        sql`
          INSERT OR IGNORE INTO main.keys (account, id, digest, prefix, label, created_at, revoked_at, expires_at)
          SELECT account.number, replaced.id, replaced.digest, replaced.prefix, replaced.label, replaced.created_at,
            coalesce(replaced.revoked_at, min(replaced.expires_at, ${nowMs}), ${nowMs}), replaced.expires_at
          FROM ${keptKeys} AS replaced ${withAccount} ORDER BY replaced.number`,
      ],
    },
    { name: "expiries of keys", has: "revocations", merges: [takeOverEnds("keys", "expires_at")] },
  ];
}

/** A new account may have the name of a deleted one, which the restore removes in the end. */
const namesOfDeletedAccounts: Part = {
  name: "names of deleted accounts",
  has: "erasures",
  prepares: [sql`UPDATE main.accounts SET name = id WHERE id IN (SELECT id FROM old.deleted_accounts)`],
  merges: [],
};

const sources: Part = {
  name: "sources",
  has: "revocations",
  // Sources created since the backup stay: their deliveries were accepted, and may still be in the spool.
  prepares: [keepAccountsOf(sql`old.sources`)],
  merges: [
    takeOverEnds("sources", "revoked_at"),
    sql`
      INSERT OR IGNORE INTO main.sources (account, id, digest, prefix, label, options, created_at, revoked_at)
      SELECT account.number, replaced.id, replaced.digest, replaced.prefix, replaced.label, replaced.options,
        replaced.created_at, replaced.revoked_at
      FROM old.sources AS replaced ${withAccount} ORDER BY replaced.number`,
  ],
};

const erasures: Part = {
  name: "erasures",
  has: "erasures",
  prepares: [
    sql`
      INSERT INTO main.instances (id, secret)
      SELECT id, secret FROM old.instances WHERE id NOT IN (SELECT id FROM main.instances) ORDER BY number`,
    ...["suppressions", "receipts"].map((table) => keepAccountsOf(sql.raw(`old.${table}`))),
  ],
  merges: [
    sql`
      INSERT INTO main.suppressions (account, hash, instance, erased_at, lifted_at)
      SELECT account.number, replaced.hash, instance.number, replaced.erased_at, replaced.lifted_at
      FROM old.suppressions AS replaced ${withAccount}
      LEFT JOIN old.instances AS old_instance ON old_instance.number = replaced.instance
      LEFT JOIN main.instances AS instance ON instance.id = old_instance.id
      WHERE TRUE ${newestDecision}`,
    sql`
      INSERT OR IGNORE INTO main.receipts (account, erased_at, identity, receipt, pending)
      SELECT account.number, replaced.erased_at, replaced.identity, replaced.receipt, replaced.pending
      FROM old.receipts AS replaced ${withAccount} ORDER BY replaced.number`,
    sql`
      INSERT OR IGNORE INTO main.deleted_accounts (id, deleted_at, leads)
      SELECT id, deleted_at, leads FROM old.deleted_accounts`,
    sql`INSERT OR IGNORE INTO main.deleted_keys (digest, account) SELECT digest, account FROM old.deleted_keys`,
  ],
};

const ledger: Part[] = [
  { name: "the ledger of recipients", merges: [], alsoReads: ["sent", "ledger_gaps", "keys"], alsoMerges: carryLedger },
  {
    name: "recipients of lost leads",
    merges: [],
    alsoReads: ["sent", "ledger_gaps", "keys", "accounts", "stored_leads", "former_numbers"],
    alsoMerges: rememberLostLeads,
  },
];

/**
 * The last retention period of each account, according to the audit logs of both files and of newer backups. Leads that were
 * too old must not be served again. All other settings are those of the backup.
 */
const retention: Part = {
  name: "retention",
  isOfNewer: true,
  prepares: [addActs(sql`act = 'retain.set'`)],
  merges: [
    sql`
      UPDATE main.accounts SET retain_days = last.days FROM (
        SELECT account, detail ->> '$.days' AS days, max(number) FROM main.audit WHERE act = 'retain.set' GROUP BY account
      ) AS last WHERE last.account = main.accounts.id AND last.days IS NOT main.accounts.retain_days`,
  ],
};
