/** Reads what a file holds, without a store: rows, columns, and the leads that they would become. */
import { detailFields, type Lead } from "../../src/contract/lead.ts";
import { Columns } from "../../src/import/map/columns.ts";
import { type LeadRules, type ReadLead, readLead } from "../../src/import/map/lead.ts";
import { readMapping } from "../../src/import/map/mapping.ts";
import { DateOrders } from "../../src/import/map/visit-time.ts";
import type { NewLead } from "../../src/import/new-lead.ts";
import { toText } from "../../src/import/parse/encoding.ts";
import { openRows } from "../../src/import/parse/format.ts";
import type { Cell, ReadRow } from "../../src/import/row.ts";
import { noonMs } from "../support/builders.ts";

export const ordinaryRules: LeadRules = {
  account: "acc_test",
  pixelId: "px_site",
  identity: detailFields,
  stamp: "source",
  mode: "command",
  zone: "UTC",
  orders: new DateOrders(null),
};

export async function* each(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

/** Cuts bytes into pieces of one size. */
export const cutInto = (size: number, bytes: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));

async function open(pieces: readonly Buffer[], map: string | null, onLegacyLine = () => {}) {
  const columns = new Columns(readMapping(map));
  return { columns, ...(await openRows(toText(each(pieces), onLegacyLine), columns)) };
}

/** Reads pieces of a file as they would arrive. */
export async function readPieces(pieces: readonly Buffer[], map: string | null = null) {
  let legacyLines = 0;
  const { columns, format, groups } = await open(pieces, map, () => legacyLines++);
  const rows: { line: number; cells: readonly Cell[]; source: ReadRow["source"]; fault: string | null }[] = [];
  for await (const group of groups) {
    rows.push(
      ...group.map((row) => ("reason" in row ? { ...row, cells: [], fault: row.reason } : { ...row, fault: null })),
    );
  }
  return { rows, columns, format, legacyLines };
}

export const readText = (text: string | Buffer, map: string | null = null) => readPieces([Buffer.from(text)], map);

/** Returns the rows of a text. */
export async function readRows(text: string): Promise<ReadRow[]> {
  const rows: ReadRow[] = [];
  for await (const group of (await open([Buffer.from(text)], null)).groups) rows.push(...group);
  return rows;
}

/** Returns the lead of each row of a text. */
export async function leadsOf(text: string | Buffer, rules: Partial<LeadRules> = {}, map: string | null = null) {
  const all = { ...ordinaryRules, orders: new DateOrders(null), ...rules };
  const leads: ReadLead[] = [];
  for await (const rows of (await open([Buffer.from(text)], map)).groups)
    leads.push(...rows.map((row) => ("reason" in row ? { fault: row.reason } : readLead(row, all, noonMs))));
  // The columns have another number in each file.
  return leads.map((one): ReadLead => ("lead" in one ? { ...one, origin: [] } : one));
}

/** The fields of a lead that are not null, with its time and pixel if its row has any; or why there is no lead. */
export type Shown = Readonly<Record<string, string>>;

export function shown(reading: ReadLead | undefined): Shown {
  if (reading === undefined) throw new Error("there is no such row");
  if ("undecided" in reading) return { fault: "undecided" };
  if ("fault" in reading) return { fault: reading.fault };
  const { document, identifiedMs, pixelId } = reading.lead;
  const { id, identified_at, pixel_id, ...details } = JSON.parse(document) as Lead; // As it was written.
  const at = identifiedMs === null ? null : new Date(identifiedMs).toISOString();
  const all = { ...details, at, pixel: pixelId === ordinaryRules.pixelId ? null : pixelId };
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

/** Returns the lead of the first row of a text; null if there is none. */
export async function firstLead(text: string): Promise<NewLead | null> {
  const [reading] = await leadsOf(text);
  return reading !== undefined && "lead" in reading ? reading.lead : null;
}

/** Returns the warnings about the first row of a text; null if it is no lead. */
export async function warningsOf(text: string): Promise<readonly string[] | null> {
  const [reading] = await leadsOf(text);
  return reading !== undefined && "lead" in reading ? reading.warnings : null;
}

/** Returns the fields of the lead of one row with these columns and values. */
export async function leadOf(row: Readonly<Record<string, string>>, rules: Partial<LeadRules> = {}): Promise<Shown> {
  return shown((await leadsOf(csv([Object.keys(row), Object.values(row)]), rules))[0]);
}

/** Returns the fields of the lead of one object. */
export async function leadOfObject(object: unknown, rules: Partial<LeadRules> = {}): Promise<Shown> {
  return shown((await leadsOf(`${JSON.stringify(object)}\n`, rules))[0]);
}

/** Writes CSV with every cell in quotes. */
export function csv(rows: readonly (readonly string[])[], delimiter = ",", newline = "\n"): string {
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
  return rows.map((row) => row.map(cell).join(delimiter) + newline).join("");
}

/** Returns the columns of a table by the field that they are, the preferred first. */
export function columnsByField(columns: Columns): Readonly<Record<string, readonly string[]>> {
  const [layout] = columns.layouts;
  if (layout === undefined) throw new Error("the table has no layout");
  const named = Object.entries(layout.fallback.of);
  return Object.fromEntries(
    named.map(([field, places]) => [field, places.map((place) => layout.columns[place]?.name ?? "")]),
  );
}
