/** Which column of a file is which field of a lead: by its name, by the path to it, or by the order of its owner. */
import { type LeadField, leadFields } from "../contract/lead.ts";
import { Refusal } from "../refusal.ts";
import { type Meaning, meaningOf, squash, type Target } from "./vocabulary.ts";

/** Orders of the owner: from the squashed name of a column to a field, or to null for one that is not kept. */
export type Orders = ReadonlyMap<string, Target | null>;

/** The columns that a rejects file has besides those of its source. */
export const rejectColumns = ["reject_line", "reject_reason"] as const;

const targets: readonly Target[] = [...leadFields, "first_name", "last_name"];

/** The columns of a file, which may turn out to be more while it is read. */
export interface Columns {
  readonly names: readonly string[];
  /** The number of a column, which is made known if it is new. */
  indexOf(name: string, path: readonly string[]): number;
  /** The numbers of the columns that hold a field, the preferred first. */
  of(target: Target): readonly number[];
  /** What became of each column, for the eyes of whoever imports. */
  report(): ColumnReport;
}

export interface ColumnReport {
  readonly matched: readonly { readonly target: Target; readonly names: readonly string[] }[];
  readonly unmatched: readonly string[];
  /** A remark on a column that was left out although its name is known. */
  readonly remark: string | null;
}

/** Reads the value of --map, `theirs=ours,…`; throws a Refusal that names the part that is wrong. */
export function readOrders(text: string): Orders {
  const orders = new Map<string, Target | null>();
  for (const part of text.split(",")) {
    const [theirs, ours, ...more] = part.split("=").map((side) => side.trim());
    const target = ours === "-" ? null : targets.find((known) => known === ours);
    if (!theirs || ours === undefined || more.length > 0 || target === undefined) {
      throw new Refusal(
        `--map has ${JSON.stringify(part)}, which is not theirs=ours.`,
        `ours is one of ${targets.join(", ")}, or - for a column that is not to be kept.`,
        2,
      );
    }
    orders.set(squash(theirs), target);
  }
  return orders;
}

export function createColumns(orders: Orders): Columns {
  const names: string[] = [];
  const numbers = new Map<string, number>();
  const meanings: (Meaning | null)[] = [];
  let byTarget: Map<Target, number[]> | null = null;

  function group(): Map<Target, number[]> {
    const grouped = new Map<Target, number[]>();
    const profile = isAddressBook(meanings);
    for (const [number, meaning] of meanings.entries()) {
      if (meaning === null || (profile && isCreation(names[number], meaning))) continue;
      grouped.set(meaning.target, [...(grouped.get(meaning.target) ?? []), number]);
    }
    const rank = (number: number) => meanings[number]?.rank ?? 0;
    for (const those of grouped.values()) those.sort((a, b) => rank(a) - rank(b) || a - b);
    return grouped;
  }

  const grouped = () => (byTarget ??= group());

  return {
    names,
    indexOf(name, path) {
      const known = numbers.get(name);
      if (known !== undefined) return known;
      const number = names.push(name) - 1;
      numbers.set(name, number);
      meanings.push(meaningOfPath(path, orders));
      byTarget = null;
      return number;
    },
    of: (target) => grouped().get(target) ?? [],
    report() {
      const used = new Set([...grouped().values()].flat());
      const left = names.filter((name, number) => !used.has(number) && !isRejectColumn(name));
      const created = names.find((name, number) => !used.has(number) && isCreation(name, meanings[number] ?? null));
      return {
        matched: targets
          .filter((target) => grouped().has(target))
          .map((target) => ({ target, names: (grouped().get(target) ?? []).map((number) => names[number] ?? "") })),
        unmatched: left,
        remark:
          created === undefined
            ? null
            : `${created} is taken for the time at which a profile was made, not for a visit; ` +
              `--map "${created}=identified_at" overrules`,
      };
    },
  };
}

export function isRejectColumn(name: string): boolean {
  return rejectColumns.some((column) => column === name);
}

/** Objects in which a last name means something else than by itself, each with what it may still mean. */
const surroundings: readonly { readonly within: RegExp; readonly means: (last: string) => Meaning | null }[] = [
  // Where the IP address is, what the browser is: never the visitor.
  { within: /^(?:network|ip|ipinfo|geoip|device|browser|useragent|campaign|consent)$/, means: () => null },
  { within: /^referr?er$/, means: (last) => only(last, "url href value", { target: "referrer", rank: 50 }) },
  { within: /^(?:super)?pixel$/, means: (last) => only(last, "id uuid value", { target: "pixel_id", rank: 50 }) },
  { within: /^utm$/, means: (last) => only(last, "source", { target: "traffic_source", rank: 50 }) },
  { within: /^(?:company|organi[sz]ation|employer|firmographics?)$/, means: ofCompany },
  { within: /^(?:professional|employment|job|work)$/, means: (last) => among(meaningOf(last), "company email phone") },
  {
    within: /^(?:contact|person|identity|visitor|lead|profile|customer|user|resolution|demographics)$/,
    means: (last) => without(meaningOf(last), "id identified_at page_url pixel_id"),
  },
];

function meaningOfPath(path: readonly string[], orders: Orders): Meaning | null {
  const squashed = path.map(squash);
  const whole = squashed.join("");
  const last = squashed.at(-1) ?? "";
  const ordered = orders.get(whole) ?? (orders.has(whole) ? null : orders.get(last));
  if (orders.has(whole) || orders.has(last)) return ordered ? { target: ordered, rank: -1 } : null;
  if (squashed.length === 1) return meaningOf(whole);
  return meaningOfNested(squashed);
}

/** Nested names are matched by the last one, seen in the light of those around it. */
function meaningOfNested(squashed: readonly string[]): Meaning | null {
  // The value in a list of emails or phones is named by the list.
  const generic = /^(?:value|number|address|raw|e164|formatted)$/.test(squashed.at(-1) ?? "");
  const path = generic && squashed.length > 1 ? squashed.slice(0, -1) : squashed;
  const last = path.at(-1) ?? "";
  const around = path.slice(0, -1).toReversed();
  for (const parent of around) {
    const known = surroundings.find(({ within }) => within.test(parent));
    if (known !== undefined) return known.means(last);
  }
  const meaning = meaningOf(last);
  const parent = around[0];
  if (meaning?.target === "id" && parent !== undefined && parent !== "event") return null;
  // A name inside something that is not a person is that thing's name.
  return meaning?.target === "name" && parent !== undefined && parent !== "data" ? null : meaning;
}

/** A company has a name; its place stands in for the visitor's only where there is no other. */
function ofCompany(last: string): Meaning | null {
  const meaning = last === "name" ? meaningOf("companyname") : meaningOf(last);
  if (meaning?.target === "city" || meaning?.target === "state") return { ...meaning, rank: meaning.rank + 1000 };
  return among(meaning, "company");
}

function only(last: string, accepted: string, meaning: Meaning): Meaning | null {
  return accepted.split(" ").includes(last) ? meaning : null;
}

function among(meaning: Meaning | null, accepted: string): Meaning | null {
  return meaning !== null && accepted.split(" ").includes(meaning.target) ? meaning : null;
}

function without(meaning: Meaning | null, refused: string): Meaning | null {
  return meaning !== null && refused.split(" ").includes(meaning.target) ? null : meaning;
}

const ofVisits: ReadonlySet<LeadField> = new Set(["pixel_id", "page_url", "referrer"]);

/** Whether the columns are those of an address book, which has people but no visits. */
function isAddressBook(meanings: readonly (Meaning | null)[]): boolean {
  const held = new Set(meanings.map((meaning) => meaning?.target));
  if ([...ofVisits].some((field) => held.has(field))) return false;
  const people = ["name", "first_name", "last_name", "phone", "company", "city", "state"] as const;
  return people.filter((field) => held.has(field)).length >= 3;
}

/** Whether a column, not one that the owner named, says when something was made. */
function isCreation(name: string | undefined, meaning: Meaning | null): boolean {
  if (name === undefined || meaning === null || meaning.rank < 0) return false;
  return (
    meaning.target === "identified_at" &&
    /^(?:created?(?:at|on|date|time)?|creationdate|datecreated)$/.test(squash(name))
  );
}
