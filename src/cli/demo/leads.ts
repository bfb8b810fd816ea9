/** Made-up leads for a demonstration: the same ones each time, at times that end now. No person is meant. */
import { detailFields, type LeadDetails } from "../../contract/lead.ts";
import { dayMs } from "../../contract/time.ts";
import { idFromContent } from "../../ingest/identity.ts";
import { prepareLead } from "../../ingest/new-lead.ts";
import type { NewLead } from "../../store/imports.ts";

export const demoPixels = ["px_shop", "px_blog", "px_pricing"] as const;

const firstNames = "Ada Ben Cleo Dan Eve Finn Gia Hugo Ida Jon Kim Leo Mia Noah Ola Pia Quinn Rosa Sam Tess".split(" ");
const lastNames =
  "Abbot Baker Carver Dyer Ellis Fisher Gardner Hunter Ingram Joiner Keeler Mason Porter Sawyer Tailor".split(" ");
const places = ["San Diego,CA", "Los Angeles,CA", "Austin,TX", "Miami,FL", "Denver,CO", "Portland,OR", "Boston,MA"];
const companies = ["Acme Tools", "Blue Harbor", "Cedar & Sons", "Delta Print", "Evergreen Books"];
const pages = ["/", "/pricing", "/features", "/blog/first-steps", "/contact"];
const sources = ["google", "newsletter", "direct", "linkedin"];
const ages = ["25-34", "35-44", "45-54", "55-64"];
const incomes = ["$50,000 to $74,999", "$75,000 to $99,999", "$100,000 to $149,999"];

/** So many leads of an account, oldest first, over the 30 days before a moment. */
export function demoLeads(account: string, count: number, nowMs: number): NewLead[] {
  const random = seeded(20_260_131);
  const spanMs = 30 * dayMs;
  return Array.from({ length: count }, (_, position) => {
    const ageMs = Math.round(((count - position) / count) * spanMs - random() * (spanMs / count));
    const identifiedMs = nowMs - ageMs;
    return newLead(account, identifiedMs, invent(random));
  });
}

/** A made-up visit. */
export interface Invented {
  readonly pixelId: string;
  readonly details: LeadDetails;
}

/** One made-up visit after another: the same ones in the same order for the same seed. */
export function createInventor(seed: number): () => Invented {
  const random = seeded(seed);
  return () => invent(random);
}

/** A made-up visit as a lead of an account at a moment. */
export function newLead(account: string, identifiedMs: number, { pixelId, details }: Invented): NewLead {
  const id = idFromContent(account, pixelId, details, detailFields, identifiedMs);
  return prepareLead(id, pixelId, details, identifiedMs);
}

function invent(random: () => number): Invented {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item; // Never empty.
  const sometimes = (value: string) => (random() < 0.7 ? value : null);
  const pixelId = pick(demoPixels);
  const name = [pick(firstNames), pick(lastNames)];
  const [city = "", state = ""] = pick(places).split(",");
  const email = sometimes(`${name.join(".").toLowerCase()}@example.com`);
  const details: LeadDetails = {
    name: name.join(" "),
    email,
    verified_email: random() < 0.5 ? email : null,
    // Numbers from 555-0100 to 555-0199 are kept for fiction.
    phone: sometimes(`1619555${100 + Math.floor(random() * 100)}`.replace("555", "5550")),
    company: sometimes(pick(companies)),
    city,
    state,
    gender: sometimes(pick(["F", "M"])),
    age_range: sometimes(pick(ages)),
    income_range: sometimes(pick(incomes)),
    net_worth: null,
    marital_status: sometimes(pick(["Y", "N"])),
    homeowner: sometimes(pick(["Y", "N"])),
    children: sometimes(pick(["Y", "N"])),
    page_url: `https://www.example.com${pick(pages)}`,
    referrer: sometimes("https://www.google.com/"),
    traffic_source: pick(sources),
  };
  return { pixelId, details };
}

/** A small generator of numbers from 0 to 1 that gives the same ones for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
