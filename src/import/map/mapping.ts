/** What --map says of columns, which overrules what their names say. */
import { parse } from "csv-parse/sync";
import { UserError } from "../../user-error.ts";
import { type Target, targets } from "./fields.ts";
import { type Meaning, meaningOfPath, normalizeName, withoutWrappers, withoutZone } from "./names.ts";

/** One part of --map. */
interface Mapped {
  readonly name: string;
  /** Null for a column that is not kept. */
  readonly target: Target | null;
  /** Its place in --map: of several columns for one field, the first that is named is preferred. */
  readonly place: number;
  /** Whether a path may end in this name: a name that is a field by itself is that one alone, and not that of its owner. */
  readonly isLastName: boolean;
}

/** More parts than a command line has. What is mapped has a lower rank than what is known by its name. */
const maxMapped = 1_000_000;

export type ColumnMapping = ReturnType<typeof readMapping>;

/** Reads the value of --map, `theirs=ours,…`, quoted like CSV; throws a UserError that names the part that is wrong. */
export function readMapping(text: string | null) {
  const mapped = new Map<string, Mapped>();
  for (const [place, part] of (text === null ? [] : splitMapping(text)).entries()) {
    const { name, target } = readMapped(part);
    const key = normalizeName(name);
    const known = mapped.get(key);
    if (known !== undefined && known.target !== target) {
      throw new UserError(`--map names ${JSON.stringify(name)} twice.`, "A column is one field.", 2);
    }
    mapped.set(key, { name, target, place, isLastName: meaningOfPath([name]) === null });
  }
  function find(path: readonly string[]): Mapped | undefined {
    const whole =
      mapped.get(normalizeName(path.join("."))) ?? mapped.get(normalizeName(withoutWrappers(path).join(".")));
    const last = whole ?? mapped.get(normalizeName(path.at(-1) ?? ""));
    return whole ?? (last?.isLastName === true ? last : undefined);
  }
  return {
    has: (path: readonly string[]): boolean => mapped.size > 0 && find(path) !== undefined,
    /** Returns what --map says of a path; null if it says nothing, or that it is not kept. */
    meaningOf(path: readonly string[]): Meaning | null {
      const found = mapped.size === 0 ? undefined : find(path);
      if (found === undefined || found.target === null) return null;
      const { target, place } = found;
      const zone = target === "identified_at" ? withoutZone(path.at(-1) ?? "").zone : null;
      return { target, rank: place - maxMapped, isOfCompany: false, zone, key: "" };
    },
    /** Returns the names that are called in none of some titles. */
    missing(titles: readonly string[]): readonly string[] {
      const found = new Set(titles.flatMap((title) => find(title.split("."))?.name ?? find([title])?.name ?? []));
      return [...mapped.values()].flatMap(({ name }) => (found.has(name) ? [] : [name]));
    },
  };
}

function splitMapping(text: string): string[] {
  try {
    // Without columns a record is a list of texts.
    const parts = parse(text, { relax_quotes: true }).flat();
    return parts.length === 0 ? [""] : parts;
  } catch {
    return [text];
  }
}

function readMapped(part: string): Pick<Mapped, "name" | "target"> {
  const equals = part.lastIndexOf("=");
  const name = part.slice(0, Math.max(0, equals)).trim();
  const ours = part.slice(equals + 1).trim();
  const target = ours === "-" ? null : targets.find((known) => known === ours);
  if (normalizeName(name) !== "" && target !== undefined) return { name, target };
  throw new UserError(
    `--map has ${JSON.stringify(part)}, which is not theirs=ours.`,
    `ours is one of ${targets.join(", ")}, or - for a column that is not to be kept.`,
    2,
  );
}
