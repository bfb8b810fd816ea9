/** Made-up leads for a demonstration, the same each time, up to now. No real person is meant. */
import { dayMs } from "../../contract/calendar.ts";
import type { LeadDetails } from "../../contract/lead.ts";
import { idFromContent, wholeIdentity } from "../../import/map/identity.ts";
import { prepareLead } from "../../import/map/lead.ts";
import type { NewLead } from "../../import/new-lead.ts";

/** The pixels of the demonstration. Each made-up lead comes from one of them. */
export const demoPixels = ["px_shop", "px_blog", "px_pricing"] as const;
/** A value that is listed several times is as much likelier. */
const visitedPixels = ["px_shop", "px_shop", "px_shop", "px_blog", "px_blog", "px_pricing"] as const;
const firstNames = "Ada Ben Cleo Dan Eve Finn Gia Hugo Ida Jon Kim Leo Mia Noah Ola Pia Quinn Rosa Sam Tess".split(" ");
const lastNames =
  "Abbot Baker Carver Dyer Ellis Fisher Gardner Hunter Ingram Joiner Keeler Mason Porter Sawyer Tailor".split(" ");
const places = (
  "San Diego,CA|San Diego,CA|Los Angeles,CA|Los Angeles,CA|" +
  "Austin,TX|Austin,TX|Portland,OR|Denver,CO|Miami,FL|Boston,MA"
).split("|");
const companies = ["Acme Tools", "Blue Harbor", "Cedar & Sons", "Delta Print", "Evergreen Books"];
const pages = ["/", "/pricing", "/features", "/blog/first-steps", "/contact"];
const sources = ["google", "google", "google", "direct", "direct", "newsletter", "linkedin"];
const ages = ["25-34", "35-44", "45-54", "55-64"];
const incomes = ["$50,000 to $74,999", "$75,000 to $99,999", "$100,000 to $149,999"];

/** Returns leads of an account, oldest first, of the last 30 days. */
export function demoLeads(account: string, count: number, nowMs: number): NewLead[] {
  const random = seeded(20_260_131);
  const times = Array.from({ length: count }, () => nowMs - Math.floor(random() * 30 * dayMs));
  return times.toSorted((one, other) => one - other).map((ms) => newLead(account, ms, invent(random)));
}

type Invented = ReturnType<typeof invent>;

/** Returns a function that makes up visits. The same seed gives the same visits. */
export function createInventor(seed: number): () => Invented {
  const random = seeded(seed);
  return () => invent(random);
}

/** Returns a made-up visit as a lead of an account. */
export function newLead(account: string, identifiedMs: number, { pixelId, details }: Invented): NewLead {
  const id = idFromContent({ account, pixelId, details, sourceMs: identifiedMs }, wholeIdentity);
  return prepareLead(id, pixelId, details, identifiedMs);
}

function invent(random: () => number) {
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
    // Numbers from 555-0100 to 555-0199 are reserved for fiction.
    phone: sometimes(`16195550${100 + Math.floor(random() * 100)}`),
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

/** Returns a generator of numbers from 0 to 1. The same seed gives the same numbers. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
