/** The columns from which the fields of leads came. */
import { type LeadField, leadFields } from "../../contract/lead.ts";
import type { Column } from "./column.ts";

/** The fields of a lead with the columns that gave them. Each pair is a number below 2^16. */
export type Origin = readonly number[];

const fieldNumbers: Readonly<Record<string, number>> = Object.fromEntries(
  leadFields.map((field, number) => [field, number]),
);

/** Returns the number of the pair of a field and a column that gave it. */
export function pairOf(field: LeadField, { number }: Column): number {
  return number * leadFields.length + (fieldNumbers[field] ?? 0);
}

/** The maximum number of groups of columns that are counted: any combination may give a field together. */
const maxGroups = 50_000;

/** The origins of the leads of a source. More columns are added while the source is read. */
export class Origins {
  /** The number of leads that got a field from one column, by pair. */
  private readonly alone: number[] = [];
  /** The number of leads that got a field from several columns together, by their joined pairs. */
  private readonly together = new Map<string, { readonly pairs: Origin; leads: number }>();

  constructor(private readonly columns: readonly Column[]) {}

  /** Counts a lead. */
  add(origin: Origin): void {
    for (let from = 0, end = 1; from < origin.length; from = end++) {
      // The pairs of one field are adjacent.
      while (end < origin.length && isSameField(origin[from], origin[end])) end++;
      const pair = origin[from] ?? 0;
      if (end === from + 1) this.alone[pair] = (this.alone[pair] ?? 0) + 1;
      else this.addGroup(origin.slice(from, end));
    }
  }

  private addGroup(pairs: Origin): void {
    const key = pairs.join();
    const known = this.together.get(key);
    if (known !== undefined) known.leads++;
    else if (this.together.size < maxGroups) this.together.set(key, { pairs, leads: 1 });
  }

  /** Returns the columns of each field of a lead. */
  fieldsOf(origin: Iterable<number>): ReadonlyMap<LeadField, readonly Column[]> {
    const found = new Map<LeadField, Column[]>();
    for (const pair of origin) {
      const column = this.columns[Math.floor(pair / leadFields.length)];
      const field = leadFields[pair % leadFields.length];
      if (field !== undefined && column !== undefined) found.getOrInsert(field, []).push(column);
    }
    return found;
  }

  /** Returns the columns, or the groups of columns, that gave each field, the most frequent first. */
  used(): ReadonlyMap<LeadField, readonly (readonly Column[])[]> {
    const alone = [...this.alone.entries()].map(([pair, leads]) => ({ pairs: [pair], leads }));
    const counted = [...alone, ...this.together.values()].filter(({ leads }) => leads > 0);
    const found = counted.toSorted((a, b) => b.leads - a.leads).flatMap(({ pairs }) => [...this.fieldsOf(pairs)]);
    const groups = Map.groupBy(found, ([field]) => field);
    return new Map([...groups].map(([field, group]) => [field, group.map(([, columns]) => columns)]));
  }
}

function isSameField(one = 0, other = 0): boolean {
  return one % leadFields.length === other % leadFields.length;
}
