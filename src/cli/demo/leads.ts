/** Made-up leads for a demonstration, the same each time, up to now. Nobody is meant. */
import { dayMs } from "../../contract/calendar.ts";
import type { LeadDetails } from "../../contract/lead.ts";
import { idFromContent, wholeIdentity } from "../../import/map/identity.ts";
import { prepareLead } from "../../import/map/lead.ts";
import type { NewLead } from "../../import/new-lead.ts";

export const demoPixels = ["px_shop", "px_blog", "px_pricing"] as const;
/** The shop is visited more than the rest. */
const visitedPixels = ["px_shop", "px_shop", "px_shop", "px_blog", "px_blog", "px_pricing"] as const;

const firstNames = "Ada Ben Cleo Dan Eve Finn Gia Hugo Ida Jon Kim Leo Mia Noah Ola Pia Quinn Rosa Sam Tess".split(" ");
const lastNames =
  "Abbot Baker Carver Dyer Ellis Fisher Gardner Hunter Ingram Joiner Keeler Mason Porter Sawyer Tailor".split(" ");
const places = [
  "San Diego,CA",
  "Los Angeles,CA",
  "San Diego,CA",
  "Austin,TX",
  "Los Angeles,CA",
  "Portland,OR",
  "Denver,CO",
].concat("Miami,FL", "Austin,TX", "Boston,MA");
const companies = ["Acme Tools", "Blue Harbor", "Cedar & Sons", "Delta Print", "Evergreen Books"];
const pages = ["/", "/pricing", "/features", "/blog/first-steps", "/contact"];
const sources = ["google", "google", "google", "direct", "direct", "newsletter", "linkedin"];
const ages = ["25-34", "35-44", "45-54", "55-64"];
const incomes = ["$50,000 to $74,999", "$75,000 to $99,999", "$100,000 to $149,999"];

/** Leads of an account, oldest first, over the 30 days before a moment. Busy hours have more, as on a real site. */
export function demoLeads(account: string, count: number, nowMs: number): NewLead[] {
  const random = seeded(20_260_131);
  const moments = Array.from({ length: count }, () => busyMoment(random, nowMs)).toSorted((a, b) => a - b);
  return moments.map((identifiedMs) =>
    newLead(account, identifiedMs, invent(random, isInCampaign(identifiedMs, nowMs))),
  );
}

const spanMs = 30 * dayMs;
const hourMs = dayMs / 24;
/** How long ago the newsletter went out. People came for three days. */
const campaign = { beganMs: 12 * dayMs, endedMs: 9 * dayMs };
/** How busy the busiest hour of the campaign is. */
const busiest = 2.2;

/** A moment of the 30 days. The busier its hour, the likelier it is. */
function busyMoment(random: () => number, nowMs: number): number {
  for (;;) {
    const ms = nowMs - Math.floor(random() * spanMs);
    if (random() * busiest < busyness(ms, nowMs)) return ms;
  }
}

/** How busy a site for the western US is at a moment: 1 on a working day's noon, little at night and on Sundays. */
function busyness(ms: number, nowMs: number): number {
  const local = new Date(ms - 8 * hourMs);
  const hour = local.getUTCHours() + local.getUTCMinutes() / 60;
  const ofDay = 0.06 + 0.94 * Math.max(0, Math.sin(((hour - 6) / 16) * Math.PI));
  const ofWeek = [0.35, 0.95, 1, 1, 0.9, 0.75, 0.45][local.getUTCDay()] ?? 1;
  return ofDay * ofWeek * (isInCampaign(ms, nowMs) ? busiest : 1);
}

function isInCampaign(ms: number, nowMs: number): boolean {
  return nowMs - ms <= campaign.beganMs && nowMs - ms > campaign.endedMs;
}

/** A made-up visit. */
interface Invented {
  readonly pixelId: string;
  readonly details: LeadDetails;
}

/** Gives one made-up visit after another. The same seed gives the same ones. */
export function createInventor(seed: number): () => Invented {
  const random = seeded(seed);
  return () => invent(random);
}

/** A made-up visit as a lead of an account at a moment. */
export function newLead(account: string, identifiedMs: number, { pixelId, details }: Invented): NewLead {
  const id = idFromContent({ account, pixelId, details, sourceMs: identifiedMs }, wholeIdentity);
  return prepareLead(id, pixelId, details, identifiedMs);
}

function invent(random: () => number, isInCampaign = false): Invented {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item; // Never empty.
  const sometimes = (value: string) => (random() < 0.7 ? value : null);
  const pixelId = pick(visitedPixels);
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
    traffic_source: isInCampaign && random() < 0.6 ? "newsletter" : pick(sources),
  };
  return { pixelId, details };
}

/** A generator of numbers from 0 to 1. The same seed gives the same ones. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
