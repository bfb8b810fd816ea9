/** A column of CSV or a path in JSON, with its meaning. */
import { representatives, type Target } from "./fields.ts";
import type { ColumnMapping } from "./mapping.ts";
import { fieldNamed, splitPath, withoutZone, wordsOf } from "./names.ts";
import { type Meaning, meaningIn, meaningOf, type StrangeField, strangeField } from "./paths.ts";
import { pathKey } from "./profiles.ts";

/** A column of CSV, or a path in JSON. */
export interface Column {
  readonly number: number;
  /** The unique name of the column. */
  readonly name: string;
  /** The name that it has in the file. */
  readonly title: string;
  /** The names of its path; empty if one of them is too long to have a meaning. */
  readonly names: readonly string[];
  /** The path of the column, in the form that profiles use. */
  readonly key: string;
  /**
   * The meaning of the path by the table of names, or in the object that --map makes the person; null if the object around it
   * holds no fields.
   */
  readonly meaning: Meaning | null;
  /**
   * The field and the position that --map gives to the column; null if --map ignores the column, and undefined if it does not
   * name it.
   */
  readonly mapped: { readonly target: Target; readonly order: number } | null | undefined;
  /** The zone of a time, if the name has one. */
  readonly zone: string | null;
  /** True of a column that --map ignores, and of those of a rejects file. */
  readonly isIgnored: boolean;
  /** True of a column of the record or a visit that is no field: it may be the time of the visit. */
  readonly mayBeTime: boolean;
  /** The field that the value would be if its unknown object were the person. */
  readonly strange: StrangeField | null;
  /** True if its values are needed. */
  readonly isRead: boolean;
  /** The marker at this path; null for a value. */
  readonly sign: Sign | null;
}

/**
 * A marker at a path without a value: a list of several people, of several visits, or of contacts that may be suggested for a
 * company. `nobody` marks an empty value that would name a person.
 */
export type Sign = "people" | "visits" | "suggested" | "nobody";

/** The columns that a rejects file has in addition to those of its source. */
export const rejectColumns = ["reject_line", "reject_reason"] as const;

/** Returns whether a column is one that only a rejects file has. */
export function isRejectColumn(name: string): boolean {
  return rejectColumns.some((column) => column === name);
}

/** Returns the column of a path, with its meaning by the table and by --map. */
export function columnOf(
  name: string,
  path: readonly string[],
  number: number,
  { mapping, vendorKeys }: { readonly mapping: ColumnMapping; readonly vendorKeys: ReadonlySet<string> },
): Column {
  const names = splitPath(path, mapping.isParent) ?? [];
  const mapped = mapping.fieldOf(names.length === 0 ? path : names);
  const personLength = mapping.personLength(names);
  const meaning = personLength === null ? meaningOf(names) : meaningIn(names, personLength);
  const isIgnored = mapped === null || isRejectColumn(name);
  const isUnknown = mapped === undefined && !isIgnored && personLength === null;
  const last = names.at(-1) ?? "";
  const key = pathKey(names);
  const mayBeTime = isUnknown && isOfVisit(meaning) && !isTimeOfOther(last);
  const strange = isUnknown ? strangeIn(names, meaning) : null;
  const isUsed = mapped !== undefined || personLength !== null || isOfRecordOrPerson(meaning);
  return {
    ...{ number, name, title: path.join("."), names, key, meaning, mapped, isIgnored, mayBeTime, strange },
    zone: mapped?.target === "identified_at" ? withoutZone(last).zone : (meaning?.zone ?? null),
    isRead: !isIgnored && (isUsed || mayBeTime || strange !== null || vendorKeys.has(key)),
    sign: null,
  };
}

function strangeIn(names: readonly string[], meaning: Meaning | null): StrangeField | null {
  if (meaning === null) return strangeField(names);
  // In a table, an unknown name before a dot is not an object, but may be the person, as in JSON.
  return names.length === 1 && meaning.target === null ? strangeField(names.flatMap((name) => name.split("."))) : null;
}

/** Returns whether a value is a field or a sign, or says that an object of a person is there. */
function isOfRecordOrPerson(meaning: Meaning | null): boolean {
  return meaning !== null && (meaning.use !== null || meaning.person.kind !== "record");
}

/** Returns whether a value that is no field, or the time at which the record was made, may be the time of the visit. */
function isOfVisit(meaning: Meaning | null): boolean {
  if (meaning === null) return false;
  const { use, target, person, place } = meaning;
  return person.kind === "record" && place === null && (use === "creation" || (use === null && target === null));
}

/** Returns whether a name is that of a birthday, or of a time of somebody or something else: `Account Created At`. */
function isTimeOfOther(name: string): boolean {
  const [first = "", ...others] = wordsOf(name);
  const isOfOther = representatives.has(first) && fieldNamed(others.join("")) === "identified_at";
  return isOfOther || [first, ...others].some((word) => ofBirth.test(word));
}

/** A word for a birthday, in the languages of the table: `dateofbirth`, `Geburtsdatum`, `Date de naissance`, `Fecha de nacimiento`. */
const ofBirth = /birth|^dob$|^bday$|^geb$|geburt|naissance|nacimiento/;
