/** What the name of a column means. Names are compared normalised, and some words in them say nothing. */
import { namesOf } from "../../../contract/names.ts";
import { aliases, type Target } from "./aliases.ts";

/**
 * Normalises a name for comparing to letters and digits of any script: `Personal E-Mails` and `PERSONAL_EMAILS` are
 * one.
 */
export function normalizeName(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** Words before a name that only say that the field is the visitor's. */
const ofVisitor =
  /^(?:visitor|contact|person|prospect|individual|lead|customer|subscriber|profile|identified|resolved)/;

/** Fields of the visit. Those words do not stand before their names: the URL of a contact is no page, its id no visit. */
const ofVisit: ReadonlySet<Target> = new Set([
  "id",
  "identified_at",
  "pixel_id",
  "page_url",
  "referrer",
  "traffic_source",
  "time_zone",
]);

export interface Meaning {
  readonly target: Target;
  /** Among the columns of one field, the lower is preferred. */
  readonly rank: number;
}

/** The first mention of a name counts, but a map keeps the last. So the list is reversed. */
const meanings: ReadonlyMap<string, Meaning> = new Map(
  namesOf(aliases)
    .flatMap((target) => aliases[target].map((name, rank) => [name, { target, rank }] as const))
    .toReversed(),
);

/** What a normalised name means; null for an unknown name. */
export function meaningOf(normalized: string): Meaning | null {
  const meaning = meaningOfName(canonical(normalized));
  // A time of a known zone goes before the same one on the clocks of nobody knows where.
  const isZoned = meaning?.target === "identified_at" && /(?:utc|gmt)$/.test(normalized);
  return isZoned ? { ...meaning, rank: meaning.rank - 0.5 } : meaning;
}

function meaningOfName(name: string): Meaning | null {
  // A second or third of its kind, not a bracket such as "Age 18-24".
  const numbered = name.replace(/(?<!\d)(?:[1-9]|10)$/, "");
  return (
    meanings.get(name) ??
    lessPreferred(meanings.get(numbered), Number(name.slice(numbered.length)) / 1000) ??
    meanings.get(withoutPlural(name)) ??
    withoutOwner(name)
  );
}

/** Writes the variants of a word in one way, so that the lists above need only that one. */
function canonical(normalized: string): string {
  return normalized
    .replaceAll(/emails?(?:addresse?s?)?/g, "email")
    .replaceAll(/(?:tele|cell)?phone(?:no|nr|numbers?)?s?/g, (word) => (word.startsWith("cell") ? "mobile" : "phone"))
    .replaceAll(/mobile(?:phone|number|no)?s?/g, "mobile")
    .replace(/^cell(?:number)?$/, "mobile")
    .replace(/landlines$/, "landline")
    .replaceAll("organisation", "organization")
    .replace(/(timestamp|time|at|date)(?:utc|gmt|ms|millis|iso|unix|epoch|seconds)$/, "$1");
}

function withoutPlural(name: string): string {
  return name.length > 4 && name.endsWith("s") ? name.slice(0, -1) : name;
}

function withoutOwner(name: string): Meaning | null {
  const rest = name.replace(ofVisitor, "");
  if (rest === name || rest === "") return null;
  const meaning = meanings.get(rest) ?? meanings.get(withoutPlural(rest)) ?? withoutOwner(rest);
  return meaning === null || ofVisit.has(meaning.target) ? null : meaning;
}

function lessPreferred(meaning: Meaning | undefined, by: number): Meaning | undefined {
  return meaning && { ...meaning, rank: meaning.rank + by };
}
