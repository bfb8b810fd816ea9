/** §2: the shapes of responses. */

import { type Check, check } from "./probe.ts";
import { faultOfError, faultOfLead, isRecord, shown } from "./shapes.ts";
import { paths } from "./specification.ts";
import { need } from "./verdict.ts";

export const resourceChecks: Check[] = [
  check("2.1", "GET /leads answers the list envelope, with has_more and next_cursor", async ({ page }) => {
    await page();
  }),
  check("2.2", "every lead has the 20 fields, in their order and of their types", async ({ leads }) => {
    const fault = (await leads(1)).map(faultOfLead).find((found) => found !== null) ?? null;
    need(fault === null, fault ?? "");
  }),
  check("2.3", "GET /pixels answers the list envelope with pixels in it", async ({ ask }) => {
    const { body, status } = await ask(paths.pixels);
    need(status === 200 && isRecord(body) && body["object"] === "list", `it answered ${status} and no list`);
    need(Array.isArray(body["data"]), `data is ${shown(body["data"])} and no array`);
    const isPixel = (pixel: unknown) =>
      isRecord(pixel) && typeof pixel["id"] === "string" && typeof pixel["status"] === "string";
    need(body["data"].every(isPixel), "a pixel lacks its id or its status");
  }),
  check("2.4", "GET /usage answers the usage object with whole numbers", async ({ ask }) => {
    const { body, status } = await ask(paths.usage);
    need(status === 200 && isRecord(body), `it answered ${status}`);
    need(body["object"] === "usage", `object is ${shown(body["object"])} and not "usage"`);
    for (const field of ["requests_today", "requests_this_month", "rate_limit_per_min"]) {
      need(Number.isInteger(body[field]), `${field} is ${shown(body[field])} and no integer`);
    }
    need(
      Number(body["requests_this_month"]) >= Number(body["requests_today"]),
      "the month has fewer requests than today",
    );
  }),
  check("2.5", "an error has a code, a message and a link", async ({ ask }) => {
    const { asked, body } = await ask(paths.usage, { authorization: null });
    const fault = faultOfError(body);
    need(fault === null, `${asked} without a key: ${fault}`);
  }),
];
