/** What --map says of columns, which goes before what their names say. */
import { parse } from "csv-parse/sync";
import { UserError } from "../../../user-error.ts";
import { type Target, targets } from "./aliases.ts";
import { normalizeName } from "./vocabulary.ts";

/** What --map says, by the normalised name of a column; null for a column that is not kept. */
export type ColumnMapping = ReadonlyMap<string, Mapped>;

interface Mapped {
  readonly name: string;
  readonly target: Target | null;
}

/** Reads the value of --map, `theirs=ours,…`, quoted like CSV; throws a UserError that names the part that is wrong. */
export function readMapping(text: string | null): ColumnMapping {
  const mapping = new Map<string, Mapped>();
  for (const part of text === null ? [] : splitMapping(text)) {
    const mapped = readMapped(part);
    const normalized = normalizeName(mapped.name);
    const known = mapping.get(normalized);
    if (known !== undefined && known.target !== mapped.target) {
      throw new UserError(`--map says two things of ${JSON.stringify(mapped.name)}.`, "A column is one field.", 2);
    }
    mapping.set(normalized, mapped);
  }
  return mapping;
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

function readMapped(part: string): Mapped {
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
