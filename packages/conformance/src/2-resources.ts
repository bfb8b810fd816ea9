/** §2: the shapes of responses. */
import { type Check, check, need, needError, needShape } from "./probe.ts";
import { lead, paths, pixelList, usage } from "./specification.ts";

const fields = Object.keys(lead.shape).join();

export const resourceChecks: Check[] = [
  check("2.1", "GET /leads answers the list envelope, with has_more and next_cursor", async ({ page }) => {
    await page();
  }),
  check("2.2", "every lead has the 20 fields, in their order and of their types", async ({ leads }) => {
    for (const known of await leads(1)) {
      needShape(lead, known, "a lead");
      need(Object.keys(known).join() === fields, "the fields of a lead are not in the order of the table");
    }
  }),
  check("2.3", "GET /pixels answers the list envelope with pixels in it", async ({ get }) => {
    await get(paths.pixels, pixelList);
  }),
  check("2.4", "GET /usage answers the usage object with whole numbers", async ({ get }) => {
    const { requests_this_month, requests_today } = await get(paths.usage, usage);
    need(requests_this_month >= requests_today, "the month has fewer requests than today");
  }),
  check("2.5", "an error has a code, a message and a link", async ({ ask }) =>
    needError(await ask(paths.usage, { authorization: null }), "401 missing_api_key"),
  ),
];
