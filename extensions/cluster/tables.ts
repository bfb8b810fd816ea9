/** The tables that only a cluster has. Their names begin with `cluster_`. */
import { getTableConfig, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** One row with a counter that each write for all nodes increments, such as a revocation. */
export const revision = sqliteTable("cluster_revision", {
  number: integer().primaryKey(),
  count: integer().notNull(),
});

/** The latest transactions, each with a random ID, so that one of unknown outcome can be sent again and is applied once. */
export const writes = sqliteTable("cluster_writes", {
  number: integer().primaryKey(),
  id: text().notNull().unique(),
  /** A checksum over the IDs of all transactions up to this one. It differs on a node that lacks one of them. */
  chain: integer().notNull(),
});

/** The last flush of each server, with the keys that it counted in that minute: a balancer sends each key to one node. */
export const flushes = sqliteTable("cluster_last_flushes", {
  node: text().primaryKey(),
  /** The ID of its transaction. */
  id: text().notNull(),
  /** Since 1970. */
  minute: integer().notNull(),
  /** A JSON list of their numbers. */
  keys: text().notNull(),
});

/** The servers of the cluster. A server without a row gets no lease, and a revocation waits for each server with one. */
export const nodes = sqliteTable("cluster_nodes", {
  /** The -node-id of the local rqlite node. */
  name: text().primaryKey(),
  url: text().notNull(),
  /** The version of Leadfile. */
  version: text().notNull(),
  /** The random name of the one process that may serve from this node. */
  process: text().notNull(),
  startedAt: integer("started_at").notNull(),
  leaving: integer({ mode: "boolean" }).notNull(),
});

/** Locks that hold on all machines, by the name of what they protect. */
export const locks = sqliteTable("cluster_locks", {
  name: text().primaryKey(),
  holder: text().notNull(),
  /** Another node may take the lock from then on, because its holder may have been killed. */
  expiresAt: integer("expires_at").notNull(),
});

const tables = [revision, writes, flushes, nodes, locks].map(getTableConfig);

/** Creates the tables that are missing. */
export const tableStatements: readonly string[] = tables.map(({ name, columns }) => {
  const defined = columns.map((column) => {
    const key = column.primary ? "PRIMARY KEY" : column.isUnique ? "UNIQUE" : "";
    return `${column.name} ${column.getSQLType()} ${key} NOT NULL`;
  });
  return `CREATE TABLE IF NOT EXISTS ${name} (${defined.join(", ")}) STRICT`;
});
