/** The columns from which the fields of each lead came: leads with the same ones share a number. */
import { type LeadField, leadFields } from "../../contract/lead.ts";
import type { Column } from "./column.ts";

/** The fields of a lead with the columns that gave them: a number for each pair. */
export type Origin = readonly number[];

const fieldNumbers: Readonly<Record<string, number>> = Object.fromEntries(
  leadFields.map((field, number) => [field, number]),
);

/** Returns the number of a field and of a column that gave it. */
export function pairOf(field: LeadField, { number }: Column): number {
  return number * leadFields.length + (fieldNumbers[field] ?? 0);
}

/** At most this many are known at once: a file may fill other columns in each row. */
const maxOrigins = 50_000;

/** The origins of the leads of a source, whose columns become more while it is read. */
export class Origins {
  private readonly all: { readonly origin: Origin; leads: number }[] = [];
  private readonly numbers = new Map<string, number>();
  private last = -1;

  constructor(private readonly columns: readonly Column[]) {}

  /** Counts a lead, and returns the number of its origin; -1 if there are too many. */
  add(origin: Origin): number {
    // Nearly all leads of a file have the same.
    const last = this.all[this.last]?.origin;
    if (last?.length !== origin.length || !last.every((pair, index) => pair === origin[index])) {
      this.last = this.numberOf(origin);
    }
    const counted = this.all[this.last];
    if (counted !== undefined) counted.leads++;
    return this.last;
  }

  private numberOf(origin: Origin): number {
    if (this.all.length === maxOrigins) return this.numbers.get(origin.join()) ?? -1;
    return this.numbers.getOrInsertComputed(origin.join(), () => this.all.push({ origin, leads: 0 }) - 1);
  }

  /** Returns the columns of each field of a lead. */
  fieldsOf(number: number): ReadonlyMap<LeadField, readonly Column[]> {
    const found = new Map<LeadField, Column[]>();
    for (const pair of this.all[number]?.origin ?? []) {
      const column = this.columns[Math.floor(pair / leadFields.length)];
      const field = leadFields[pair % leadFields.length];
      if (field !== undefined && column !== undefined) found.getOrInsert(field, []).push(column);
    }
    return found;
  }

  /** Returns the number of leads that got each field from each column, or from several columns together. */
  counts(): ReadonlyMap<LeadField, ReadonlyMap<string, OriginCount>> {
    const counts = new Map<LeadField, Map<string, OriginCount>>();
    for (const [number, { leads }] of this.all.entries()) {
      for (const [field, columns] of this.fieldsOf(number)) {
        const byNames = counts.getOrInsertComputed(field, () => new Map());
        const names = columns.map(({ name }) => name).join(" + ");
        byNames.getOrInsertComputed(names, () => ({ columns, leads: 0 })).leads += leads;
      }
    }
    return counts;
  }
}

/** Columns that together gave a field, and the number of leads. */
interface OriginCount {
  readonly columns: readonly Column[];
  leads: number;
}
