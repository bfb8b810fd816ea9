/**
 * What is left of the erased in the bytes of the file. What is deleted is overwritten and the log is cut, and still a
 * page may keep a stale copy where it was split: so the bytes are looked for, and where they are found, the file is
 * written anew.
 */

import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Lead } from "../../contract/lead.ts";
import type { Traces } from "../../store/privacy.ts";
import { removeStaleDrafts } from "../atomic-file.ts";
import type { Connection } from "../connection.ts";
import { type Descriptors, partsOf, serverLockPath } from "../file.ts";
import { bytesOf } from "../import/import.ts";
import { exportDocuments } from "../leads.ts";
import { accounts } from "../schema.ts";
import { vacuum } from "../vacuum.ts";
import { truncateWal } from "../wal.ts";
import { createSearch, leastLength, type Search } from "./byte-search.ts";

/** Readers end within moments; a backup or another program may take longer. */
const patienceMs = 15_000;
const chunkBytes = 1 << 20;

/** What is looked for of a lead: what names its person, and the lead itself. */
export function needlesOf(document: string): Buffer[] {
  const lead: Lead = JSON.parse(document);
  const values = [lead.id, lead.email, lead.verified_email, lead.phone, lead.name];
  return [...values.flatMap((value) => (value === null ? [] : [needleOf(value)])), bytesOf(lead.id)];
}

/** A value as it stands in a document, with its quotes: the letters alone may be part of somebody else's. */
export function needleOf(value: string): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** Looks for the needles in the file, and writes it anew when they are there. The caller has deleted what holds them. */
export function removeTraces(
  database: Connection,
  path: string,
  needles: readonly Buffer[],
  descriptors: Descriptors,
): Traces {
  const wanted = distinct(needles);
  // A restore that was killed has left a copy of everything.
  removeStaleDrafts(path);
  const cut = truncateLog(database);
  const first = look(path, wanted, descriptors);
  const copies = copiesWith(path, wanted);
  if (first.found.size === 0) return { gone: true, bytes: first.bytes, shared: 0, copies };
  // While somebody reads the old state, the log cannot be cut, and writing the file anew would help nothing.
  if (!cut) return { gone: false, bytes: first.bytes, shared: 0, copies };
  const living = heldByLeads(database, wanted);
  if (first.found.isSubsetOf(living)) return { gone: true, bytes: first.bytes, shared: first.found.size, copies };
  vacuum(database);
  const cutAgain = truncateLog(database);
  const { found, bytes } = look(path, wanted, descriptors);
  // What is in a file that was just written anew belongs to what stays.
  return { gone: cutAgain || found.isSubsetOf(living), bytes, shared: found.size, copies };
}

/** Which of the needles stand in leads that there are, of whatever account. */
function heldByLeads(database: Connection, needles: readonly Buffer[]): Set<number> {
  const held = new Set<number>();
  const search = createSearch(needles);
  for (const { number } of database.select({ number: accounts.number }).from(accounts).all()) {
    for (const documents of exportDocuments(database, number)) search(Buffer.from(documents.join("\n")), held);
  }
  return held;
}

/** Copies the log into the file and cuts it to nothing; false when somebody kept reading the old state for too long. */
function truncateLog(database: Connection): boolean {
  const endMs = performance.now() + patienceMs;
  while (!truncateWal(database)) {
    if (performance.now() > endMs) return false;
    Bun.sleepSync(50);
  }
  return true;
}

function distinct(needles: readonly Buffer[]): Buffer[] {
  const usable = needles.filter(({ length }) => length >= leastLength);
  return [...new Map(usable.map((needle) => [needle.toString("latin1"), needle])).values()];
}

function look(path: string, needles: readonly Buffer[], descriptors: Descriptors) {
  const found = new Set<number>();
  let bytes = 0;
  if (needles.length === 0) return { found, bytes };
  const search = createSearch(needles);
  const overlap = Math.max(...needles.map(({ length }) => length)) - 1;
  for (const part of partsOf(path)) {
    const file = descriptors(part);
    if (file !== null) bytes += searchFile(file, search, overlap, found);
  }
  return { found, bytes };
}

/** Searches a file from its beginning; what stands across the border of two chunks is found in the second. */
function searchFile(file: number, search: Search, overlap: number, found: Set<number>): number {
  const size = fstatSync(file).size;
  const buffer = Buffer.alloc(overlap + chunkBytes);
  for (let at = 0; at < size; at += chunkBytes) {
    const from = Math.max(0, at - overlap);
    const length = readSync(file, buffer, 0, at + chunkBytes - from, from);
    search(buffer.subarray(0, length), found);
  }
  return size;
}

/** Files beside the database, such as copies made before a migration, that hold one of the needles. */
function copiesWith(path: string, needles: readonly Buffer[]): string[] {
  if (needles.length === 0) return [];
  const search = createSearch(needles);
  const overlap = Math.max(...needles.map(({ length }) => length)) - 1;
  const own = new Set([...partsOf(path), serverLockPath(path)]);
  const beside = readdirSync(dirname(path), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.startsWith(`${basename(path)}.`))
    .map((entry) => join(dirname(path), entry.name));
  return beside.filter((copy) => !own.has(copy) && holds(copy, search, overlap)).toSorted();
}

function holds(path: string, search: Search, overlap: number): boolean {
  const file = openSync(path, "r");
  try {
    const found = new Set<number>();
    searchFile(file, search, overlap, found);
    return found.size > 0;
  } finally {
    closeSync(file);
  }
}
