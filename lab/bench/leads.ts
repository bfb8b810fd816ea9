/** The leads of the bench: those of the demo, the same ones each time, spread over one year. No person is meant. */
import { stringify } from "csv-stringify/sync";
import { createInventor } from "../../src/cli/demo/leads.ts";
import { dayMs } from "../../src/contract/calendar.ts";
import { type Lead, leadFields } from "../../src/contract/lead.ts";

export const yearStartMs = Date.UTC(2025, 0, 1);
export const yearMs = 365 * dayMs;

/** One lead of so many comes from Needles, the rare city of a large state. */
const rareCityEvery = 2000;

/** The lead at a position of a year that has `count` of them. Positions from `count` on are in the next year. */
export function leadAt(position: number, count: number): Lead {
  const hash = new Bun.CryptoHasher("md5").update(String(position)).digest("hex");
  const [seed = 0, share = 0] = [hash.slice(0, 8), hash.slice(8, 16)].map((digits) => Number.parseInt(digits, 16));
  const { pixelId, details } = createInventor(seed)();
  // Less than a step apart from the next one, so that no two share a millisecond and none is moved at import.
  const identifiedMs = yearStartMs + Math.floor((position + (0.9 * share) / 2 ** 32) * (yearMs / count));
  return {
    // Random all over, as the IDs of vendors are: the hard case for an index.
    id: hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-a$4-$5"),
    identified_at: new Date(identifiedMs).toISOString(),
    pixel_id: pixelId,
    ...details,
    // With these, a lead has the 550 bytes that leads of vendors have.
    net_worth: "$100,000-$249,999",
    page_url: `${details.page_url}?utm_source=newsletter&utm_medium=email`,
    ...(position % rareCityEvery === 0 && { city: "Needles", state: "CA" }),
  };
}

/** Writes a run of positions as a CSV file. */
export async function writeCsv(path: string, from: number, to: number, count: number): Promise<void> {
  const rows = Bun.file(path).writer();
  rows.write(stringify([[...leadFields]]));
  for (let start = from; start < to; start += 1000) {
    const length = Math.min(1000, to - start);
    const leads = Array.from({ length }, (_, step) => leadAt(start + step, count));
    rows.write(stringify(leads.map((lead) => leadFields.map((field) => lead[field]))));
    await rows.flush();
  }
  await rows.end();
}
