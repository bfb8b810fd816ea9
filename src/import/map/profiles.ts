/** Recognizes the records of vendors by their paths, and gives the fields that a vendor's profile names. */
import { UserError } from "../../runtime/user-error.ts";
import { vendors } from "../vendors/all.ts";
import type { Vendor } from "../vendors/vendor.ts";
import { namingFields, type Target, targets } from "./fields.ts";
import { normalizeName } from "./names.ts";
import type { Meaning } from "./paths.ts";

/** A profile whose paths are in the form in which they are compared. */
export interface Profile {
  readonly name: string;
  readonly recognizedBy: readonly (readonly string[])[];
  /** The object that is the person; null if nobody is, and undefined if the profile does not say. */
  readonly person: string | null | undefined;
  /** The field of each path, and its position in the order of preference. */
  readonly fields: ReadonlyMap<string, { readonly target: Target; readonly order: number }>;
  readonly targets: ReadonlySet<Target>;
  /** The path prefixes of the objects that the profile knows. */
  readonly objects: readonly string[];
}

/** Objects around a record, which do not count. */
const envelopes: ReadonlySet<string> = new Set("data payload body record result item node _source".split(" "));

/** Returns a path as it is compared with those of profiles: from the record itself, in lowercase letters and digits. */
export function pathKey(path: readonly string[]): string {
  const keys = path.map(normalizeName);
  const first = keys.findIndex((key, index) => index === keys.length - 1 || !envelopes.has(key));
  return keys.slice(first).join(".");
}

const keyOf = (path: string): string => (path === "" ? "" : pathKey(path.split(".")));

const all: readonly Profile[] = Object.entries(vendors).flatMap(([name, vendor]) =>
  vendor === undefined ? [] : [createProfile(name, vendor)],
);

function createProfile(name: string, { recognizedBy, person, fields, notKept }: Vendor): Profile {
  const listed = targets.flatMap((target) => (fields[target] ?? []).map((path) => [keyOf(path), target] as const));
  return {
    name,
    recognizedBy: recognizedBy.map((paths) => paths.map(keyOf)),
    person: typeof person === "string" ? keyOf(person) : person,
    fields: new Map(listed.map(([key, target], order) => [key, { target, order }])),
    targets: new Set(targets.filter((target) => fields[target] !== undefined)),
    objects: [...recognizedBy.flat(), ...notKept, ...listed.map(([key]) => key), `${person ?? ""}.`]
      .map((path) => keyOf(path).replace(/[^.]*$/, ""))
      .filter((object) => object !== "" && object !== "."),
  };
}

/** The profiles that may be used for a source: all of them, the chosen one, or none. */
export interface VendorChoice {
  readonly all: readonly Profile[];
  /** True if --vendor chose the profile, which then need not recognize a record. */
  readonly isChosen: boolean;
}

/** Returns the profiles for a value of --vendor. Throws a UserError for a name that no profile has. */
export function readVendor(name: string | null): VendorChoice {
  if (name === null) return { all, isChosen: false };
  if (name === "none") return { all: [], isChosen: true };
  const chosen = all.find((profile) => profile.name === name);
  if (chosen !== undefined) return { all: [chosen], isChosen: true };
  throw new UserError(
    `--vendor is ${JSON.stringify(name)}, which is no known vendor.`,
    `Pass one of ${all.map((profile) => profile.name).join(", ")}, or none.`,
    2,
  );
}

/** The parts of a column that profiles use. */
interface KnownColumn {
  readonly key: string;
  readonly meaning: Meaning | null;
}

/** Returns the chosen profile, or the first one that recognizes a record with some columns; null if none does. */
export function profileOf({ all, isChosen }: VendorChoice, columns: readonly KnownColumn[]): Profile | null {
  if (isChosen) return all[0] ?? null;
  const keys = new Set(columns.map(({ key }) => key));
  const found = all.find(({ recognizedBy }) => recognizedBy.some((paths) => paths.every((key) => keys.has(key))));
  return found === undefined || columns.some((column) => namesOther(column, found)) ? null : found;
}

/** Returns whether a column names somebody in an object that a profile does not know. Such a record is from another system. */
function namesOther({ key, meaning }: KnownColumn, { objects, person }: Profile): boolean {
  if (person === undefined || meaning?.target == null || !namingFields.has(meaning.target)) return false;
  return (
    meaning.person.kind === "person" &&
    meaning.person.prefix === null &&
    !objects.some((object) => key.startsWith(object))
  );
}

/** Returns the keys of all paths that profiles name. */
export function keysOf({ all }: VendorChoice): ReadonlySet<string> {
  return new Set(all.flatMap(({ recognizedBy, fields }) => [...recognizedBy.flat(), ...fields.keys()]));
}

/** Returns the name of a vendor as people write it. */
export function titleOf(name: string): string {
  return vendors[name]?.title ?? name;
}
