/** §4.1: the filters, and the parameters that are refused. */
import { type Check, check, need, needError, skip } from "./probe.ts";
import { type KnownLead, paths } from "./specification.ts";

export const filterChecks: Check[] = [
  filter("pixel_id"),
  filter("state"),
  filter("city"),
  check("4.1", "city is compared without case", async (probe) => {
    const city = (await probe.leads(1)).map((lead) => lead.city).find((name) => name !== null) ?? null;
    if (city === null) skip("no lead has a city");
    for (const written of [city.toUpperCase(), city.toLowerCase()]) {
      const { data } = await probe.page({ city: written, limit: "1" });
      need(data.length === 1, "the name in other case finds nothing");
    }
  }),
  check("4.1", "has_email=true gives only leads with an email address", async ({ page, leads }) => {
    if ((await leads(1)).every((lead) => lead.email !== null)) skip("every lead has an email address");
    const { data } = await page({ has_email: "true", limit: "100" });
    const without = data.filter((lead) => lead.email === null);
    need(without.length === 0, "a lead has no email address");
  }),
  refused("since=yesterday", "400 invalid_parameter"),
  refused("since=2026-13-45T00:00:00Z", "400 invalid_parameter"),
  refused("limit=many", "400 invalid_parameter"),
  refused("before=yesterday", "400 invalid_cursor"),
  refused(`pixel_id=${encodeURIComponent("no such pixel, by any account")}`, "404 unknown_pixel"),
];

/** Compares a filtered page with the known leads. */
function filter(name: "pixel_id" | "state" | "city"): Check {
  const read = (lead: KnownLead) => lead[name];
  return check("4.1", `${name} gives the leads with that value, and no others`, async (probe) => {
    const known = await probe.leads(1);
    const value = known.map(read).find((found) => found !== null) ?? null;
    if (value === null) skip(`no lead has a ${name}`);
    const { data: found } = await probe.page({ [name]: value, limit: "100" });
    const others = found.filter((lead) => !isSame(read(lead), value));
    need(others.length === 0, "a lead with another value came");
    const ids = new Set(found.map(({ id }) => id));
    const lost = known.filter((lead) => read(lead) === value && !ids.has(lead.id));
    need(lost.length === 0 || ids.size === 100, "a lead with that value is missing");
    if (known.every((lead) => isSame(read(lead), value))) skip("all leads have the same value");
  });
}

const isSame = (one: string | null, other: string) => one?.toLowerCase() === other.toLowerCase();

function refused(query: string, error: string): Check {
  const title = `${decodeURIComponent(query).replace("=", " = ")} is refused: ${error}`;
  return check("4.1", title, async ({ ask }) => needError(await ask(`${paths.leads}?${query}`), error));
}
