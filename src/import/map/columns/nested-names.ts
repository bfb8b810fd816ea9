/** What a name inside other objects means: the last name counts, seen in the light of those around it. */
import { type Meaning, meaningOf } from "./vocabulary.ts";

/** What is added to the rank of a place that is the company's and not the visitor's. */
export const standIn = 1000;

/** What is added to the rank of a visit's field inside the object that is called the visitor. */
const wrapped = 500;

/** Objects in which a last name means something else than by itself, each with what it may still mean. */
const surroundings: readonly { readonly within: RegExp; readonly means: (last: string) => Meaning | null }[] = [
  // Where the IP address is, what the browser is: never the visitor.
  { within: /^(?:network|ip\w*|geo\w*|device|browser|useragent|campaign|consent)$/, means: () => null },
  { within: /^(?:session|visit)$/, means: (last) => without(meaningOf(last), "id city state country") },
  { within: /^referr?er$/, means: (last) => only(last, "url href value", { target: "referrer", rank: 50 }) },
  { within: /^(?:super)?pixel$/, means: (last) => only(last, "id uuid value", { target: "pixel_id", rank: 50 }) },
  { within: /^utm$/, means: (last) => only(last, "source", { target: "traffic_source", rank: 50 }) },
  { within: /^(?:company|organi[sz]ation|employer|firmographics?)$/, means: ofCompany },
  { within: /^(?:companies|organi[sz]ations)$/, means: (last) => meaningOf(last === "name" ? "companyname" : last) },
  { within: /^(?:professional|employment|job|work)$/, means: (last) => among(meaningOf(last), "company email phone") },
  // The whole of a visit can stand in one object; what is said of the visit outside of it goes first.
  { within: /^(?:visitor|lead)$/, means: ofWrapper },
  {
    within: /^(?:contacts?|persons?|people|identity|profile|customer|user|resolution|demographics)$/,
    means: (last) => without(meaningOf(last), "id identified_at page_url pixel_id"),
  },
];

/** Nested names are matched by the last one, seen in the light of those around it. */
export function meaningOfNested(normalized: readonly string[]): Meaning | null {
  const path = withoutGeneric(normalized);
  const last = path.at(-1) ?? "";
  const around = path.slice(0, -1).toReversed();
  for (const parent of around) {
    const known = surroundings.find(({ within }) => within.test(parent));
    if (known !== undefined) return without(known.means(last), "time_zone");
  }
  const meaning = meaningOf(last);
  const parent = around[0];
  // The zone of a place or a person is not that of the times in the file.
  if (meaning?.target === "time_zone" && parent !== undefined && !isEnvelope(parent) && parent !== "event") return null;
  if (meaning?.target === "id" && parent !== undefined && parent !== "event") return null;
  // A name inside something that is not a person is that thing's name.
  return meaning?.target === "name" && parent !== undefined && !isEnvelope(parent) ? null : meaning;
}

/** Names of a value that the name around them says better: the list of emails that it is in, or the country that it names. */
function withoutGeneric(normalized: readonly string[]): readonly string[] {
  const [parent, last] = normalized.slice(-2);
  if (parent === undefined || last === undefined) return normalized;
  const isValue = /^(?:value|number|address|raw|e164|formatted)$/.test(last);
  const isOfPlace = /^(?:code|name|iso|isocode|iso2|short|abbreviation)$/.test(last);
  const names = isValue || (isOfPlace && among(meaningOf(parent), "city state country") !== null);
  return names ? normalized.slice(0, -1) : normalized;
}

/** Whether the name of an object says nothing of what is in it. */
function isEnvelope(name: string): boolean {
  return /^(?:data|traits|attributes|properties|fields|record|payload|body|result|item|row)$/.test(name);
}

/** A company has a name; its place stands in for the visitor's only where there is no other. */
function ofCompany(last: string): Meaning | null {
  const meaning = last === "name" ? meaningOf("companyname") : meaningOf(last);
  const place = among(meaning, "city state country");
  if (place !== null) return { ...place, rank: place.rank + standIn };
  return among(meaning, "company");
}

function ofWrapper(last: string): Meaning | null {
  const meaning = without(meaningOf(last), "id");
  const ofVisit = among(meaning, "identified_at page_url pixel_id");
  return ofVisit === null ? meaning : { ...ofVisit, rank: ofVisit.rank + wrapped };
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
