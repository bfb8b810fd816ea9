/** The field of each column, for the person who imports: by the values that leads got, and by names where there are none. */
import { type LeadField, leadFields } from "../../contract/lead.ts";
import { type Column, isRejectColumn } from "./column.ts";
import type { Columns } from "./columns.ts";
import { identifiers, type Target, targets } from "./fields.ts";
import { fieldNamed, isRepresentative, isWrapper, wordsOf } from "./names.ts";
import type { TimeRules } from "./visit-time.ts";

/** The field that each column becomes, or null. */
export type ColumnReport = ReturnType<typeof reportOn>;

/** The fields of a lead to which values contribute that are not fields themselves. */
const fieldsMadeOf: Readonly<Partial<Record<Target, LeadField>>> = {
  first_name: "name",
  last_name: "name",
  country: "state",
  time_zone: "identified_at",
};

/** Reports which columns gave which field, and which are not kept. */
export function reportOn(columns: Columns, stamp: TimeRules["stamp"] = "source", origins = columns.origins) {
  const given = origins.used();
  const listed = columns.all.filter(({ name }) => !isRejectColumn(name));
  const used = new Map<Column, LeadField>();
  // A verified address is reported as `verified_email`, although it also fills an empty `email`.
  for (const field of leadFields) {
    for (const column of given.get(field)?.flat() ?? []) used.set(column, field);
  }
  const named = fieldsByName(columns);
  const isOfArrival = stamp === "arrival";
  const fieldOf = (column: Column): LeadField | null => {
    const field = used.get(column) ?? named.get(column) ?? null;
    return field === "identified_at" && isOfArrival ? null : field;
  };
  const unmatched = listed.filter((column) => fieldOf(column) === null);
  return {
    /** The columns that gave each field to some lead, those of most leads first; by name if no lead has the field. */
    fields: new Map(
      leadFields.flatMap((field) => {
        const byCount = (given.get(field) ?? []).map((group) => group.map(({ name }) => name).join(" + "));
        const byName = listed.filter((column) => named.get(column) === field).map(({ name }) => name);
        const names = byCount.length > 0 ? byCount : byName;
        return names.length === 0 || (field === "identified_at" && isOfArrival) ? [] : [[field, names] as const];
      }),
    ),
    unmatched: unmatched.map(({ name }) => name),
    /** The --map options for columns that are not kept, and whose field nothing else fills. */
    maps: unmatched.flatMap((column) => {
      const target = column.isIgnored ? null : offeredField(column);
      const field = target === null ? null : (fieldsMadeOf[target] ?? leadFields.find((one) => one === target));
      return target === null || field == null || given.has(field) ? [] : [mapOption(column.title, target)];
    }),
    /** Each column with the field of a lead that it becomes, or null. */
    columns: listed.map((column) => ({ column: column.name, field: fieldOf(column) })),
    /** True if no column gives the time, although the time of the import was not requested. */
    lacksTime: !isOfArrival && !given.has("identified_at") && ![...named.values()].includes("identified_at"),
  };
}

/** Returns the fields that columns are by their names, in the records of the layouts that were seen. */
function fieldsByName({ layouts }: Columns): ReadonlyMap<Column, LeadField> {
  const found = new Map<Column, LeadField>();
  for (const { columns, fallback, candidates } of layouts) {
    for (const { of } of [...candidates.toReversed(), fallback]) {
      for (const [target, index] of targets.flatMap((one) => (of[one] ?? []).map((at) => [one, at] as const))) {
        const column = columns[index];
        const field = fieldsMadeOf[target] ?? leadFields.find((one) => one === target);
        if (column !== undefined && field !== undefined) found.set(column, field);
      }
    }
  }
  return found;
}

/** Words before the name of a field that do not say whose it is. */
const neutral: ReadonlySet<string> = new Set(
  (
    "my your the web website site tracked detected matched resolved inferred enriched found known likely probable best main " +
    "primary preferred raw full original default valid clean cleaned normalized formatted lead visitor contact person"
  ).split(" "),
);
/** Fields that nobody should be told to map a column to. */
const neverOffered: ReadonlySet<Target> = new Set(["id", "pixel_id", "identified_at", "time_zone", "country"]);

/** Returns the field to offer for a column: its name ends with one, and nothing in its path says that it is another person's. */
function offeredField({ names, meaning, strange }: Column): Target | null {
  if (strange !== null || names.some(isRepresentative) || names.slice(0, -1).some((name) => !isWrapper(name)))
    return null;
  const words = wordsOf(names.at(-1) ?? "");
  if (meaning?.target != null || words.some((word) => identifiers.has(word))) return null;
  for (let split = 1; split < words.length && neutral.has(words[split - 1] ?? ""); split++) {
    const target = fieldNamed(words.slice(split).join(""));
    if (target !== null && !neverOffered.has(target)) return target;
  }
  return null;
}

/** Returns the option that keeps a column as a field, to paste into a shell. */
export function mapOption(name: string, target: Target | "person"): string {
  const part = mapPart(name, target);
  return `--map ${/^[\w.=-]+$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`}`;
}

/** Returns a part of the value of --map, quoted like CSV. */
export function mapPart(name: string, target: Target | "person"): string {
  const part = `${name}=${target}`;
  return /[,"]/.test(part) ? `"${part.replaceAll('"', '""')}"` : part;
}
