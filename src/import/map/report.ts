/** The field of each column, for the person who imports. */
import { type LeadField, leadFields } from "../../contract/lead.ts";
import { type Columns, createLayout, isRejectColumn, type Layout } from "./columns.ts";
import { ofPerson, type Target, targets } from "./former-fields.ts";
import { likelyTarget, meaningOfPath } from "./names.ts";
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

/** Reports which columns map to which field, and which are ignored. */
export function reportOn(columns: Columns, stamp: TimeRules["stamp"] = "source") {
  const layout = createLayout(columns.all);
  const matched = fieldsOf(layout);
  const targetOf = (name: string) => targets.find((target) => matched[target]?.includes(name));
  const listed = columns.all.filter(({ name }) => !isRejectColumn(name));
  const unmatched = listed.filter(({ name }) => targetOf(name) === undefined);
  // A column whose name is known is unused only if the file is an address book, or is the location of a company.
  const created = unmatched.find(({ meaning }) => meaning?.target === "identified_at");
  return {
    /** The names of the columns that hold each field, the preferred first. A field without any is left out. */
    matched,
    /** The columns of names, the preferred first; those of a first and a last name are joined. */
    names: joinedNames(layout),
    unmatched: unmatched.map(({ name }) => name),
    /** The --map options for ignored columns whose names resemble a field. */
    maps: unmatched.flatMap(({ title, isIgnored }) => {
      const target = isIgnored ? null : likelyTarget(title.split("."));
      return target === null ? [] : [mapOption(title, target)];
    }),
    /** A remark on a column that was left out although its name is known. */
    remark:
      created === undefined
        ? null
        : `${created.name} is the time at which a profile was created, not the time of a visit; ` +
          `${mapOption(created.title, "identified_at")} uses it anyway`,
    /** Each column with the field of a lead that it becomes, or null. */
    columns: listed.map(({ name }) => {
      const target = targetOf(name);
      const field = (target && fieldsMadeOf[target]) ?? leadFields.find((one) => one === target) ?? null;
      return { column: name, field: field === "identified_at" && stamp === "arrival" ? null : field };
    }),
  };
}

function joinedNames({ columns, names }: Layout): string[] {
  const titles = (places: readonly number[]) => places.map((place) => columns[place]?.name ?? "").join(" or ");
  const halves = (places: readonly (readonly number[])[]) => places.map(titles).filter((title) => title !== "");
  return names.map((places) => halves(places).join(" + "));
}

/** Returns the option that keeps a column as a field, to paste into a shell. */
export function mapOption(name: string, target: Target): string {
  const part = `${name}=${target}`;
  const quoted = /[,"]/.test(part) ? `"${part.replaceAll('"', '""')}"` : part;
  return `--map ${/^[\w.=-]+$/.test(quoted) ? quoted : `'${quoted.replaceAll("'", "'\\''")}'`}`;
}

/** Fewer words may be values that happen to be names of columns. */
const minNames = 3;

/** Returns whether the cells of a row name more fields than the header: above the true one may be a title. */
export function namesMore(columns: Columns, cells: readonly string[]): boolean {
  const named = new Set(cells.flatMap((cell) => meaningOfPath([cell])?.target ?? []));
  return named.size >= minNames && named.size > Object.keys(fieldsOf(createLayout(columns.all))).length;
}

/** Returns the fields that some columns hold. The location of a company counts where no column is of a person. */
function fieldsOf({ columns, of, ofCompany }: Layout): { readonly [Field in Target]?: readonly string[] } {
  const namesPerson = ofPerson.some((target) => of[target] !== undefined);
  const found = targets.map((target) => {
    const places = [...(of[target] ?? []), ...((namesPerson ? undefined : ofCompany[target]) ?? [])];
    return [target, places.map((place) => columns[place]?.name ?? "")] as const;
  });
  return Object.fromEntries(found.filter(([, names]) => names.length > 0));
}
