/**
 * The tables of the one file. The migrations under drizzle/ are generated from here, with STRICT and WITHOUT ROWID
 * added by hand, which Drizzle cannot say. Timestamps are Unix milliseconds, days `2026-01-31`, both in UTC.
 */
import { type SQL, sql } from "drizzle-orm";
import {
  blob,
  index,
  integer,
  primaryKey,
  type SQLiteColumn,
  type SQLiteTable,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** The owners of leads. The subscription of one that is not active has lapsed, and its keys get 403 (§3). */
export const accounts = sqliteTable("accounts", {
  // Leads and indexes hold this number instead of the id: short keys make the indexes a third smaller.
  number: integer().primaryKey(),
  id: text().notNull().unique(),
  name: text().notNull().unique(),
  active: integer({ mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
  /** Leads that are older are erased daily and rejected at import; null keeps them all. */
  retainDays: integer("retain_days"),
});

/** Accounts that were deleted: the receipt of each, without its name. A restore leaves them out. */
export const deletedAccounts = sqliteTable("deleted_accounts", {
  id: text().primaryKey(),
  deletedAt: integer("deleted_at").notNull(),
  /** The number of its leads. */
  leads: integer().notNull(),
});

/** The keys of deleted accounts, which answer `revoked_api_key` forever. */
export const deletedKeys = sqliteTable("deleted_keys", {
  /** SHA-256 of the key. */
  digest: blob({ mode: "buffer" }).primaryKey(),
  /** The ID of the deleted account. */
  account: text()
    .notNull()
    .references(() => deletedAccounts.id),
});

/** The number of the account, or of the key, to which a row belongs. */
const ofAccount = () =>
  integer()
    .notNull()
    .references(() => accounts.number);
const ofKey = () =>
  integer()
    .notNull()
    .references(() => keys.number);

/** Pixels, in the order of their creation, in which they are served. */
export const pixels = sqliteTable(
  "pixels",
  {
    number: integer().primaryKey(),
    account: ofAccount(),
    id: text().notNull(),
    status: text().notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [uniqueIndex("pixels_by_id").on(table.account, table.id)],
);

/** API keys. A revoked one stays, because it answers `revoked_api_key` forever. */
export const keys = sqliteTable(
  "keys",
  {
    number: integer().primaryKey(),
    account: ofAccount(),
    id: text().notNull().unique(),
    /** SHA-256 of the key; the key itself is never stored. */
    digest: blob({ mode: "buffer" }).notNull().unique(),
    prefix: text().notNull(),
    label: text(),
    createdAt: integer("created_at").notNull(),
    revokedAt: integer("revoked_at"),
    /** The time at which the key expires; null if it never does. An expired key answers like a revoked one. */
    expiresAt: integer("expires_at"),
    /** The timestamp of the newest lead that it was sent; null if it was sent none. */
    readUpTo: integer("read_up_to"),
  },
  (table) => [index("keys_by_account").on(table.account)],
);

/** The requests of each key on each UTC day, a 429 apart (§2.4). */
export const usage = sqliteTable(
  "usage",
  {
    key: ofKey(),
    day: text().notNull(),
    requests: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.key, table.day] })],
);

/** Returns the column of a name, or an SQL expression unchanged. */
const columnOf = (table: Readonly<Record<string, SQLiteColumn>>, column: string): SQLiteColumn | SQL =>
  Object.values(table).find(({ name }) => name === column) ?? sql.raw(column);

/** The leads as they are stored. The view `leads` shows every field to any SQLite tool. */
export const leads = sqliteTable(
  "stored_leads",
  {
    // In the order of insertion, which is oldest first within an import: the leads of a page are neighbors. No number is
    // used again: a trigger keeps the largest of those that were deleted (`lead_numbers`), and inserts begin after it.
    number: integer().primaryKey(),
    account: ofAccount(),
    identifiedAt: integer("identified_at").notNull(),
    /** The 16 bytes of the lead's id. */
    uuid: blob({ mode: "buffer" }).notNull(),
    pixel: integer()
      .notNull()
      .references(() => pixels.number),
    state: text(),
    /** The city in the form in which cities are compared. */
    cityKey: text("city_key"),
    hasEmail: integer("has_email", { mode: "boolean" }).notNull(),
    /** The number of the import that brought it. */
    import: integer().notNull(),
    /** The canonical JSON of the lead, as it is served: the truth, of which the columns are copies. */
    doc: text().notNull(),
  },
  (table) => {
    // Loaded when somebody asks for the indexes: a command such as key revoke needs no filter.
    const { filterIndexes, filters }: typeof import("../contract/filters.ts") = require("../contract/filters.ts");
    return [
      // The cursor of the list: one lead per account and millisecond, read from the newest.
      uniqueIndex("leads_by_time").on(table.account, table.identifiedAt),
      uniqueIndex("leads_by_uuid").on(table.account, table.uuid),
      // One index for each way to filter (contract/filters.ts). Each ends with the timestamp, so that matching leads are
      // sorted by time. Where no email address is asked for, the two halves of an index are merged. Twice as many indexes
      // would cost more, in bytes and at import.
      ...filterIndexes.map(([name, names]) => {
        const columns = names.map((filter) => columnOf(table, filters[filter].column));
        return index(name).on(table.account, ...columns, table.hasEmail, table.identifiedAt);
      }),
    ];
  },
);

/**
 * The random keys under which erased persons are hashed. An instance makes one. A restore over the file of another
 * instance brings a second key, because the erasures of both must hold.
 */
export const instances = sqliteTable("instances", {
  number: integer().primaryKey(),
  id: text().notNull().unique(),
  secret: blob({ mode: "buffer" }).notNull(),
});

/**
 * The blocks of erased persons, who must not be imported into their account again: hashes of email addresses, phones, and IDs.
 */
export const suppressions = sqliteTable(
  "suppressions",
  {
    account: ofAccount(),
    /**
     * HMAC-SHA-256 over the ID of the account, the kind, and the value. If only the SHA-256 of an email address or phone was
     * given, which cannot be reversed, that SHA-256 is stored.
     */
    hash: blob({ mode: "buffer" }).notNull(),
    /** The instance whose key made the hash; null for a SHA-256 that was given. */
    instance: integer().references(() => instances.number),
    erasedAt: integer("erased_at").notNull(),
    /**
     * The time at which the block was lifted. The block is in force if this is null or before `erased_at`: the newest decision
     * wins in a restore.
     */
    liftedAt: integer("lifted_at"),
  },
  (table) => [primaryKey({ columns: [table.account, table.hash] })],
);

/** The receipts of erasures. They contain no personal data. */
export const receipts = sqliteTable(
  "receipts",
  {
    number: integer().primaryKey(),
    account: ofAccount(),
    erasedAt: integer("erased_at").notNull(),
    /** SHA-256 of what a receipt says about the erasure itself, without its recipients. A receipt is stored once. */
    identity: blob({ mode: "buffer" }).notNull().unique(),
    /** The receipt as JSON, as `receipt list` prints it. */
    receipt: text().notNull(),
    /**
     * Until the recipients are complete: the numbers and the times of the removed leads, as JSON. Null from then on.
     */
    pending: text(),
  },
  (table) => [index("receipts_by_account").on(table.account)],
);

/** Transactions that deleted leads whose bytes are still in the file: one row each, until the file is rewritten. */
export const residues = sqliteTable("residues", { number: integer().primaryKey() });

/** Every import. Its leads have its number. */
export const imports = sqliteTable(
  "imports",
  {
    number: integer().primaryKey(),
    account: ofAccount(),
    /** The time at which its first lead was committed. */
    at: integer().notNull(),
    /** The time at which it was finished; null while it runs and if it was interrupted. */
    finishedAt: integer("finished_at"),
    /** The name of the file without its folder; `-` for standard input. */
    file: text().notNull(),
    /** The user of the system who ran it. */
    by: text().notNull(),
    /** The path of its rejected rows, as it was given; null if none was given. */
    rejectsFile: text("rejects_file"),
    read: integer().notNull(),
    imported: integer().notNull(),
    duplicates: integer().notNull(),
    replaced: integer().notNull(),
    /** Of those, the leads that other imports had added: what was there before is not kept. */
    overwritten: integer().notNull().default(0),
    moved: integer().notNull(),
    late: integer().notNull(),
    suppressed: integer().notNull(),
    rejected: integer().notNull(),
    /** The timestamps of the oldest and the newest lead that it added; null if it added none. */
    oldest: integer(),
    newest: integer(),
    /** The time at which it was undone. */
    undoneAt: integer("undone_at"),
    /** A hash of the names of its columns; null until it is done. */
    layout: text(),
  },
  (table) => [index("imports_by_account").on(table.account)],
);

/**
 * The ledger of what was sent (C-154/21): one bit for each lead of each page that was answered, by key and UTC day. It holds
 * numbers of leads, nothing of a person, and outlives an erasure.
 */
export const sent = sqliteTable(
  "sent",
  {
    key: ofKey(),
    day: text().notNull(),
    /** The number of a lead divided by 8,192. */
    block: integer().notNull(),
    /** The node of a cluster that sent the leads; empty without a cluster. Each node writes its own rows. */
    node: text().notNull().default(""),
    /** Bit n is for the n-th number of the block; compressed by Zstandard. */
    bits: blob({ mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.key, table.day, table.block, table.node] })],
);

/**
 * The numbers that leads had before they were undone or lost in a restore, if a key was sent them: a lead that is imported again
 * keeps its recipients.
 */
export const formerNumbers = sqliteTable(
  "former_numbers",
  {
    number: integer().primaryKey(),
    account: ofAccount(),
    uuid: blob({ mode: "buffer" }).notNull(),
    identifiedAt: integer("identified_at").notNull(),
  },
  (table) => [index("former_numbers_by_uuid").on(table.account, table.uuid)],
);

/** One row: the largest number of a lead that was deleted. No lead gets a number that another one had. */
export const leadNumbers = sqliteTable("lead_numbers", { last: integer().notNull() });

/** The reason why the ledger was not kept for a time, or is not exact. */
export type GapReason = "off" | "disk" | "stop" | "clock" | "restore" | "upgrade";

/** Times in which the ledger was not kept. */
export const ledgerGaps = sqliteTable("ledger_gaps", {
  number: integer().primaryKey(),
  /** The node of a cluster; empty without a cluster. */
  node: text().notNull().default(""),
  from: integer("begins_at").notNull(),
  /** Null while it lasts. A gap `stop` that lasts is one only if its server is gone: it begins at the last write. */
  to: integer("ends_at"),
  reason: text().$type<GapReason>().notNull(),
});

/** Addresses at which vendors deliver (webhooks): a token for writing alone, of which only the digest is kept. */
export const sources = sqliteTable(
  "sources",
  {
    number: integer().primaryKey(),
    account: ofAccount(),
    id: text().notNull().unique(),
    /** SHA-256 of the token. */
    digest: blob({ mode: "buffer" }).notNull().unique(),
    prefix: text().notNull(),
    label: text(),
    /** The options of its imports, and the secret of its signatures if it has one, as a JSON object. */
    options: text().notNull(),
    createdAt: integer("created_at").notNull(),
    revokedAt: integer("revoked_at"),
  },
  (table) => [index("sources_by_account").on(table.account)],
);

/** An act that the audit records. */
export type Act =
  | `account.${"activate" | "deactivate" | "delete"}`
  | "import.undo"
  | "inbox.use"
  | `key.${"create" | "expire" | "revoke"}`
  | `lead.${"erase" | "export" | "find" | "unblock"}`
  | `retain.${"erase" | "set"}`
  | `source.${"create" | "revoke"}`
  | "backup"
  | "backup.verified"
  | "restore";

/** Acts and their times, without personal data. */
export const audit = sqliteTable("audit", {
  number: integer().primaryKey(),
  at: integer().notNull(),
  act: text().$type<Act>().notNull(),
  /** The id of the account; null for what is done to the whole file. */
  account: text(),
  /** Counts and ids, as a JSON object. */
  detail: text().notNull(),
});

/** The build that wrote the file last, in one row: messages about a file of another version name it. */
export const builds = sqliteTable("builds", {
  number: integer().primaryKey(),
  /** Version and commit, such as `0.2.0 (a1b2c3d)`. */
  build: text().notNull(),
});

/**
 * Returns a number that no row ever had. SQLite would choose that of the last row again if it was deleted: an export that still
 * runs on a deleted account would go on with the leads of the next one, and requests of a deleted key would count for the next.
 */
export const unusedNumber = (table: SQLiteTable, deleted: SQLiteTable): SQL => sql`
  (SELECT 1 + max(ifnull(max(number), 0), count(*) + (SELECT count(*) FROM ${deleted})) FROM ${table})`;
