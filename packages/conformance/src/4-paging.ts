/** §4.1: order, cursor, and since. */
import { type Check, check, need, type Probe, skip } from "./probe.ts";
import type { KnownLead } from "./specification.ts";

const idsOf = (leads: readonly KnownLead[]) => leads.map(({ id }) => id);
const msOf = (lead: KnownLead | undefined) => Date.parse(lead?.identified_at ?? "");

export const pagingChecks: Check[] = [
  check("4.1", "leads come newest first", async ({ leads }) => {
    const moments = (await leads(2)).map(msOf);
    const falling = moments.every((ms, index) => index === 0 || ms <= (moments[index - 1] ?? ms));
    need(falling, "identified_at grows within a page");
  }),
  check("4.1", "a page has 25 leads by default, and limit is kept to", async ({ page, leads }) => {
    const known = await leads(2);
    for (const [query, size] of [
      [{}, 25],
      [{ limit: "1" }, 1],
      [{ limit: "2" }, 2],
      [{ limit: "100" }, 100],
    ] as const) {
      const { data, has_more } = await page(query);
      // Leads may have come since the first look, but none goes away.
      const least = has_more ? size : Math.min(size, known.length);
      const isRight = data.length >= least && data.length <= size;
      need(isRight, `limit ${size} gave ${data.length} leads, and has_more is ${has_more}`);
    }
  }),
  check("4.1", "before is strict: the lead at that time is not on the page", async ({ page, leads }) => {
    const known = await leads(2);
    const { data } = await page({ before: known[0]?.identified_at ?? "", limit: "100" });
    need(!idsOf(data).includes(known[0]?.id ?? ""), "the lead at that very time is on the page");
    need(idsOf(data)[0] === known[1]?.["id"], "the page does not begin with the next older lead");
  }),
  check("4.1", "the walk by next_cursor meets every lead once, whatever the size of a page", async (probe) => {
    const known = await probe.leads(3);
    const begin = known[0]?.identified_at ?? "";
    const wanted = idsOf(known).slice(1);
    for (const size of [100, Math.min(7, Math.floor(wanted.length / 2))]) {
      const walked = await walk(probe, begin, size, Math.min(wanted.length, 4 * size));
      need(new Set(walked).size === walked.length, `pages of ${size}: a lead came twice`);
      const first = walked.findIndex((id, index) => id !== wanted[index] && index < wanted.length);
      need(first === -1, `pages of ${size}: lead ${first + 1} of the walk is another one than on a page of 100`);
    }
  }),
  check("4.1", "has_more is true exactly while there are further leads", async ({ page, leads }) => {
    const known = await leads(2);
    const last = known.at(-1);
    const range = { since: last?.identified_at ?? "", before: known[0]?.identified_at ?? "" };
    const between = idsOf(known).slice(1).length;
    const whole = await page({ ...range, limit: String(Math.min(100, between)) });
    need(!whole.has_more, "a page that holds all that there is says that there is more");
    if (between < 2) skip("the account has too few leads to part a page");
    const part = await page({ ...range, limit: String(between - 1) });
    need(part.has_more, "a page that lacks a lead says that there is no more");
  }),
  check("4.1", "since is inclusive, and gives nothing older", async ({ page, leads }) => {
    const known = await leads(2);
    const since = msOf(known[1]);
    const { data } = await page({ since: known[1]?.identified_at ?? "", limit: "100" });
    need(idsOf(data).includes(known[1]?.id ?? ""), "the lead at that very time is missing");
    const older = data.filter((lead) => !(msOf(lead) >= since));
    need(older.length === 0, "a lead is older than since");
  }),
];

/** Returns the first IDs of a walk, up to a number of them. */
async function walk({ page }: Probe, begin: string, size: number, enough: number): Promise<string[]> {
  const walked: string[] = [];
  for (let before = begin; walked.length < enough; ) {
    const list = await page({ before, limit: String(size) });
    walked.push(...idsOf(list.data));
    if (!list.has_more) break;
    need(Date.parse(list.next_cursor) < Date.parse(before), "next_cursor does not move on");
    before = list.next_cursor;
  }
  return walked;
}
