/** Sentences about persons whom find and erase share. */
import type { PersonReference } from "../../privacy/identifiers.ts";
import { firstOf, grouped } from "../terminal/numbers.ts";

/** A person whom a list, or an option, names, and the number of different people whom the leads name. */
export interface Found {
  readonly person: PersonReference;
  readonly people: number;
}

/** Nobody reads more IDs than this; --dry-run --json prints all of them. */
const maxIds = 100;
const maxLines = 10;
const how = "by email address, or by name if there is none";

/** Begins a sentence about leads of other persons that contain something. */
export function othersHold(count: number): string {
  return `${grouped(count)} other ${count === 1 ? "lead contains" : "leads contain"}`;
}

/** Lists IDs, and says how many more there are. */
export function idsText(ids: readonly string[]): string {
  return firstOf(ids, maxIds);
}

/** Says that leads seem to name several people, by the lines of a list; null if each names one person. */
export function severalText(found: readonly Found[]): string | null {
  const shared = found.filter(({ people }) => people > 1);
  const [one] = shared;
  if (one === undefined) return null;
  if (found.length === 1) return `These leads seem to name ${grouped(one.people)} different people (${how}).`;
  const lines = [...new Set(shared.map(({ person }) => String(person.line)))];
  const which = lines.length === 1 ? "Line" : "Each of the lines";
  return `${which} ${firstOf(lines, maxLines)} of the list seems to name several people (${how}).`;
}
