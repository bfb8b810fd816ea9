/** The option --map, which overrules what the names of columns say. */
import { UserError } from "../../runtime/user-error.ts";
import { readLine } from "../parse/csv-record.ts";
import { type Target, targets } from "./fields.ts";
import { fieldNamed, isWrapper, maxNameLength, normalizeName } from "./names.ts";

interface Mapped {
  readonly name: string;
  readonly key: string;
  /** A field, the person, or null for a path that is not kept. */
  readonly target: Target | "person" | null;
  /** Its position in --map: of several columns for one field, the first that is named is preferred. */
  readonly order: number;
  /** True if a path may end in this name: a name that is a field by itself is that one alone, and not that of its owner. */
  readonly isLastName: boolean;
}

/** A --map that was read. */
export type ColumnMapping = ReturnType<typeof readMapping>;

/** Reads the value of --map, `theirs=ours,…`, quoted like CSV; throws a UserError that names the part that is wrong. */
export function readMapping(text: string | null) {
  const mapped = new Map<string, Mapped>();
  for (const [order, part] of (text === null ? [] : splitMapping(text.trim())).entries()) {
    const { name, target } = readMapped(part);
    const key = keyOf(name.split("."));
    const known = mapped.get(key);
    if (known !== undefined && known.target !== target) {
      throw new UserError(`--map names ${JSON.stringify(name)} twice.`, "Map each column to one field.", 2);
    }
    mapped.set(key, { name, key, target, order, isLastName: fieldNamed(name) === null });
  }
  const all = [...mapped.values()];
  const parents = new Set(all.flatMap(({ name }) => (name.includes(".") ? keyOf(name.split(".").slice(0, 1)) : [])));
  const persons = new Set(all.flatMap(({ target, key }) => (target === "person" ? key : [])));

  function find(path: readonly string[]): Mapped | undefined {
    const last = mapped.get(keyOf(path.slice(-1)));
    const inner = path.filter((name, index) => index === path.length - 1 || !isWrapper(name));
    return mapped.get(keyOf(path)) ?? mapped.get(keyOf(inner)) ?? (last?.isLastName === true ? last : undefined);
  }

  /** Returns the object around a path that --map names, with the number of its names. */
  function around(path: readonly string[]): { readonly object: Mapped; readonly length: number } | null {
    for (let length = 1; length < path.length; length++) {
      const object = find(path.slice(0, length));
      if (object?.target === null || object?.target === "person") return { object, length };
    }
    return null;
  }

  return {
    /** Returns whether a name is that of an object in --map, so that a dot after it separates names. */
    isParent: (name: string) => parents.has(keyOf([name])) || persons.has(keyOf([name])),
    /**
     * Returns the field of a path, and its position in --map; null if the path is not kept, and undefined if --map says nothing
     * of it.
     */
    fieldOf(path: readonly string[]): { readonly target: Target; readonly order: number } | null | undefined {
      if (all.length === 0) return undefined;
      const found = find(path);
      if (found === undefined || found.target === "person") {
        return around(path)?.object.target === null ? null : undefined;
      }
      return found.target === null ? null : { target: found.target, order: found.order };
    },
    /** Returns how many names lead to the object that --map makes the person; null if a path is not in it. */
    personLength(path: readonly string[]): number | null {
      const found = persons.size === 0 ? null : around(path);
      return found?.object.target === "person" ? found.length : null;
    },
    /** Returns the names in --map that none of some paths has. */
    missing(paths: readonly (readonly string[])[]): readonly string[] {
      const found = new Set(paths.flatMap((path) => [find(path), around(path)?.object]));
      return all.filter((one) => !found.has(one)).map(({ name }) => name);
    },
  };
}

/** A longer name has no meaning, but --map may name it as it is. */
function keyOf(path: readonly string[]): string {
  return path.map((name) => (name.length > maxNameLength ? name : normalizeName(name))).join("");
}

function splitMapping(text: string): readonly string[] {
  const { cells, end } = readLine(text, ",");
  return cells !== null && end > text.length ? cells : [text];
}

function readMapped(part: string): Pick<Mapped, "name" | "target"> {
  const equals = part.lastIndexOf("=");
  const name = part.slice(0, Math.max(0, equals)).trim();
  const ours = part.slice(equals + 1).trim();
  const target = ours === "-" ? null : [...targets, "person" as const].find((known) => known === ours);
  if (keyOf([name]) !== "" && target !== undefined) return { name, target };
  throw new UserError(
    `--map has ${JSON.stringify(part)}, which is not THEIRS=OURS.`,
    `OURS is one of ${targets.join(", ")}, person for an object that is the visitor, or - to ignore the column.`,
    2,
  );
}
