/** The columns from which the fields of each lead came: leads with the same ones share a number. */
import type { LeadField } from "../../contract/lead.ts";
import type { Column } from "./column.ts";

/** At most this many are known at once: a file may fill other columns in each row. */
const maxOrigins = 50_000;

/** A node of a tree: the way from its root says which fields came from which columns. */
export class Origin {
  private readonly next = new Map<string, Origin>();
  /** The one that was returned last: nearly all records of a file have the same. */
  private last: Origin | null = null;
  /** The number of leads. */
  leads = 0;

  constructor(
    private readonly all: Origin[],
    private readonly columns: readonly Column[],
    readonly number: number,
    private readonly before: Origin | null,
    private readonly field: LeadField | null,
    private readonly index: number,
  ) {}

  /** Returns the origin that also has a field from a column. */
  with(field: LeadField, index: number): Origin {
    if (this.last?.field === field && this.last.index === index) return this.last;
    const key = `${field} ${index}`;
    const known = this.next.get(key);
    if (known === undefined && this.all.length >= maxOrigins) return this;
    const origin = known ?? new Origin(this.all, this.columns, this.all.length, this, field, index);
    if (known === undefined) {
      this.all.push(origin);
      this.next.set(key, origin);
    }
    this.last = origin;
    return origin;
  }

  /** Returns the columns by field, each field with all columns that gave a part of it. */
  fields(): ReadonlyMap<LeadField, readonly Column[]> {
    const found = new Map<LeadField, Column[]>();
    for (let origin: Origin | null = this; origin !== null; origin = origin.before) {
      const column = this.columns[origin.index];
      if (origin.field !== null && column !== undefined) found.getOrInsert(origin.field, []).unshift(column);
    }
    return found;
  }
}

/** The origins of the leads of a source. */
export class Origins {
  private readonly all: Origin[] = [];

  /** Returns an origin without a field, for the records of a layout. */
  begin(columns: readonly Column[]): Origin {
    const origin = new Origin(this.all, columns, this.all.length, null, null, 0);
    if (this.all.length < maxOrigins) this.all.push(origin);
    return origin;
  }

  /** Forgets the leads that were counted, as those of the first rows, which are read twice. */
  forget(): void {
    for (const origin of this.all) origin.leads = 0;
  }

  /** Returns the columns of each field of a lead. */
  fieldsOf(number: number): ReadonlyMap<LeadField, readonly Column[]> {
    return this.all[number]?.fields() ?? new Map();
  }

  /** Returns the number of leads that got each field from each column, or from several columns together. */
  counts(): ReadonlyMap<LeadField, ReadonlyMap<string, OriginCount>> {
    const counts = new Map<LeadField, Map<string, OriginCount>>();
    for (const origin of this.all) {
      if (origin.leads === 0) continue;
      for (const [field, columns] of origin.fields()) {
        const byNames = counts.getOrInsertComputed(field, () => new Map());
        const names = columns.map(({ name }) => name).join(" + ");
        const count = byNames.getOrInsertComputed(names, () => ({ columns, leads: 0 }));
        count.leads += origin.leads;
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
