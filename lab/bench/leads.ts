/** The leads of the bench: made up, the same ones each time, spread over one year. No person is meant. */
import { dayMs } from "../../src/contract/calendar.ts";
import type { Lead } from "../../src/contract/lead.ts";

export const yearStartMs = Date.UTC(2025, 0, 1);
export const yearMs = 365 * dayMs;

export const pixelIds = ["px_shop", "px_blog", "px_pricing", "px_docs", "px_landing"] as const;

/** Places with the share of leads that they get; Needles is the rare city in a big state. */
const places = spread([
  ["Los Angeles,CA", 300],
  ["San Diego,CA", 150],
  ["San Francisco,CA", 120],
  ["Sacramento,CA", 80],
  ["Needles,CA", 1],
  ["Austin,TX", 130],
  ["Houston,TX", 160],
  ["Miami,FL", 120],
  ["Tampa,FL", 70],
  ["New York,NY", 280],
  ["Buffalo,NY", 40],
  ["Chicago,IL", 170],
  ["Denver,CO", 80],
  ["Portland,OR", 60],
  ["Portland,ME", 20],
  ["Boston,MA", 110],
  ["Seattle,WA", 100],
  ["Cheyenne,WY", 5],
]);
const firstNames = "Alexander Beatrice Cornelius Dorothea Ezekiel Francesca Gabriel Henrietta Ignatius Josephine".split(
  " ",
);
const lastNames = "Abernathy Blackwood Castellanos Delacroix Ellsworth Fitzgerald Goldstein Hawthorne".split(" ");
const companies = ["Acme Tools", "Blue Harbor Logistics", "Cedar & Sons", "Delta Print Works", "Evergreen Books"];
const pages = ["pricing?plan=team", "features/reports", "blog/first-steps-with-pixels", "contact", "docs/quickstart"];
const sources = ["google", "newsletter", "direct", "linkedin"];
const ages = ["25-34", "35-44", "45-54", "55-64"];
const incomes = ["$50,000-$74,999", "$75,000-$99,999", "$100,000-$149,999"];
const worths = ["$50,000-$99,999", "$100,000-$249,999", "$250,000-$499,999"];

/** The lead at a position of a year that has `count` of them: positions from `count` on lie in the next year. */
export function leadAt(position: number, count: number): Lead {
  const random = seeded(position);
  const pick = <Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item; // No list here is empty.
  const sometimes = (value: string) => (random() < 0.75 ? value : null);
  // Less than a step apart from the next one, so that no two share a millisecond and none is moved at import.
  const identifiedMs = yearStartMs + Math.floor((position + 0.9 * random()) * (yearMs / count));
  const id = uuid(random);
  const name = `${pick(firstNames)} ${pick(lastNames)}`;
  const [city = "", state = ""] = pick(places).split(",");
  const email = sometimes(`${name.replace(" ", ".").toLowerCase()}${position % 9973}@example.com`);
  return {
    id,
    identified_at: new Date(identifiedMs).toISOString(),
    pixel_id: pick(pixelIds),
    name,
    email,
    verified_email: random() < 0.5 ? email : null,
    // Numbers from 555-0100 to 555-0199 are kept for fiction.
    phone: sometimes(`16195550${100 + Math.floor(random() * 100)}`),
    company: sometimes(pick(companies)),
    city,
    state,
    gender: sometimes(pick(["F", "M"])),
    age_range: sometimes(pick(ages)),
    income_range: sometimes(pick(incomes)),
    net_worth: sometimes(pick(worths)),
    marital_status: sometimes(pick(["married", "single"])),
    homeowner: sometimes(pick(["yes", "no"])),
    children: sometimes(pick(["yes", "no"])),
    page_url: `https://www.example.com/${pick(pages)}`,
    referrer: sometimes("https://www.google.com/"),
    traffic_source: pick(sources),
  };
}

/** Lines of NDJSON in groups, for the standard input of an import. */
export function* writeNdjson(from: number, to: number, count: number): Generator<string> {
  const atOnce = 2000;
  for (let start = from; start < to; start += atOnce) {
    const length = Math.min(atOnce, to - start);
    yield Array.from({ length }, (_, offset) => `${JSON.stringify(leadAt(start + offset, count))}\n`).join("");
  }
}

/** A generator of numbers from 0 to 1 (mulberry32), the same ones for the same seed. */
export function seeded(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random all over, as the ids of vendors are: the hard case for an index. */
function uuid(random: () => number): string {
  const word = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  const [a, b, c, d] = [word(), word(), word(), word()];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${d}`;
}

function spread(shares: readonly (readonly [place: string, share: number])[]): string[] {
  return shares.flatMap(([place, share]) => Array.from({ length: share }, () => place));
}
