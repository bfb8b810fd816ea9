/** The option --map, which overrules what the names of columns say. */
import { UserError } from "../../runtime/user-error.ts";
import { readLine } from "../parse/csv-record.ts";
import { type Target, targets } from "./former-fields.ts";
import { type Meaning, meaningOfPath, normalizeName, withoutWrappers, withoutZone } from "./names.ts";

interface Mapped {
  readonly name: string;
  /** Null for a column that is not kept. */
  readonly target: Target | null;
  /** Its place in --map: of several columns for one field, the first that is named is preferred. */
  readonly place: number;
  /** True if a path may end in this name: a name that is a field by itself is that one alone, and not that of its owner. */
  readonly isLastName: boolean;
}

/** More parts than a command line has. A column that is mapped has a lower rank than one that is known by its name. */
const maxMapped = 1_000_000;

/** A --map that was read. */
export type ColumnMapping = ReturnType<typeof readMapping>;

/** Reads the value of --map, `theirs=ours,…`, quoted like CSV; throws a UserError that names the part that is wrong. */
export function readMapping(text: string | null) {
  const mapped = new Map<string, Mapped>();
  for (const [place, part] of (text === null ? [] : splitMapping(text.trim())).entries()) {
    const { name, target } = readMapped(part);
    const known = mapped.get(normalizeName(name));
    if (known !== undefined && known.target !== target) {
      throw new UserError(`--map names ${JSON.stringify(name)} twice.`, "Map each column to one field.", 2);
    }
    mapped.set(normalizeName(name), { name, target, place, isLastName: meaningOfPath([name]) === null });
  }
  function find(path: readonly string[]): Mapped | undefined {
    const by = (names: readonly string[]) => mapped.get(normalizeName(names.join(".")));
    const last = by(path.slice(-1));
    return by(path) ?? by(withoutWrappers(path)) ?? (last?.isLastName === true ? last : undefined);
  }
  return {
    /** Returns the meaning of a path by --map: null if it is not kept, and undefined if --map says nothing of it. */
    meaningOf(path: readonly string[]): Meaning | null | undefined {
      const found = mapped.size === 0 ? undefined : find(path);
      if (found === undefined) return undefined;
      const { target, place } = found;
      if (target === null) return null;
      const zone = target === "identified_at" ? withoutZone(path.at(-1) ?? "").zone : null;
      return { target, rank: place - maxMapped, isOfCompany: false, zone, key: "", parents: "" };
    },
    /** Returns the names in --map that none of some titles has. */
    missing(titles: readonly string[]): readonly string[] {
      const found = new Set(titles.map((title) => find(title.split(".")) ?? find([title])));
      return [...mapped.values()].filter((one) => !found.has(one)).map(({ name }) => name);
    },
  };
}

function splitMapping(text: string): readonly string[] {
  const { cells, end } = readLine(text, ",");
  return cells !== null && end > text.length ? cells : [text];
}

function readMapped(part: string): Pick<Mapped, "name" | "target"> {
  const equals = part.lastIndexOf("=");
  const name = part.slice(0, Math.max(0, equals)).trim();
  const ours = part.slice(equals + 1).trim();
  const target = ours === "-" ? null : targets.find((known) => known === ours);
  if (normalizeName(name) !== "" && target !== undefined) return { name, target };
  throw new UserError(
    `--map has ${JSON.stringify(part)}, which is not THEIRS=OURS.`,
    `OURS is one of ${targets.join(", ")}, or - to ignore the column.`,
    2,
  );
}
