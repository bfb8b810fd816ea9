/** The manifest beside a backup: its size, its digest, and how many rows it has. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { sql } from "drizzle-orm";
import type { Connection } from "../db/connection.ts";
import { exportDocuments } from "../db/export.ts";
import { codeOf } from "../db/failure.ts";
import { StoreError } from "../store/errors.ts";

const Count = Type.Integer({ minimum: 0 });

const Manifest = Type.Object({
  file: Type.String(),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  bytes: Count,
  schema: Count,
  made_at: Type.String(),
  counts: Type.Object({ accounts: Count, pixels: Count, keys: Count, leads: Count }),
  content: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});
export type Manifest = Static<typeof Manifest>;

export type Content = Pick<Manifest, "counts" | "content">;

export function manifestPath(file: string): string {
  return `${file}.manifest.json`;
}

/** Reads the manifest of a backup; throws a StoreError where there is no such file, or no manifest that can be read. */
export function readManifest(file: string): Manifest {
  if (!existsSync(file)) throw new StoreError({ kind: "no such backup", file });
  const path = manifestPath(file);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new StoreError({ kind: "manifest unreadable", path, reason: codeOf(cause) });
  }
  try {
    const manifest: unknown = JSON.parse(text);
    if (Value.Check(Manifest, manifest)) return manifest;
  } catch {
    // It is not even JSON.
  }
  throw new StoreError({ kind: "not a manifest", path });
}

/** How many rows there are, and a digest of their content that no migration changes. */
export function contentOf(database: Connection): Content {
  const hash = createHash("sha256");
  const count = (table: string, columns: string) => {
    const rows = database.values(sql.raw(`SELECT ${columns} FROM ${table} ORDER BY number`));
    hash.update(`${table} ${JSON.stringify(rows)}\n`);
    return rows.length;
  };
  const accounts = count("accounts", "number, id, name, active, created_at");
  const pixels = count("pixels", "number, account, id, status, created_at");
  const keys = count("keys", "number, account, id, hex(digest), prefix, label, created_at");
  let leads = 0;
  for (const [account] of database.values<[number]>(sql`SELECT number FROM accounts ORDER BY number`)) {
    for (const documents of exportDocuments(database, account)) {
      leads += documents.length;
      hash.update(`${account} ${documents.join("\n")}\n`);
    }
  }
  return { counts: { accounts, pixels, keys, leads }, content: hash.digest("hex") };
}
