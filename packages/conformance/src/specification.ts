/** The names, numbers, and shapes of the specification that the checks compare a server with. */
import { z } from "zod";

/** The endpoints (§4). */
export const paths = { leads: "/api/v1/leads", pixels: "/api/v1/pixels", usage: "/api/v1/usage" };

const matching = (pattern: RegExp) => z.string().regex(pattern);
const text = z.string().nullable();
const timestamp = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i);

/** A lead, its fields in the order of the table (§2.2). */
export const lead = z.strictObject({
  id: z.guid(),
  identified_at: timestamp,
  pixel_id: z.string().min(1),
  name: text,
  email: text,
  verified_email: text,
  phone: matching(/^[0-9]+$/).nullable(),
  company: text,
  city: text,
  state: matching(/^[A-Z]{2}$/).nullable(),
  gender: text,
  age_range: text,
  income_range: text,
  net_worth: text,
  marital_status: text,
  homeowner: text,
  children: text,
  page_url: text,
  referrer: text,
  traffic_source: text,
});

/** The fields of a lead that the checks compare. One check alone looks at its whole shape. */
const knownLead = z.looseObject({
  id: z.string(),
  identified_at: z.string(),
  pixel_id: z.string(),
  email: text,
  city: text,
  state: text,
});
export type KnownLead = z.infer<typeof knownLead>;

const listOf = <Item extends z.ZodType>(item: Item) => ({ object: z.literal("list"), data: z.array(item) });

/** The list envelope of GET /leads (§2.1): a page with has_more has leads and a cursor. */
export const leadPage = z.discriminatedUnion("has_more", [
  z.object({ ...listOf(knownLead), has_more: z.literal(false) }),
  z.object({
    ...listOf(knownLead),
    data: z.array(knownLead).min(1),
    has_more: z.literal(true),
    next_cursor: timestamp,
  }),
]);

/** The list envelope of GET /pixels (§2.3). */
export const pixelList = z.object(listOf(z.object({ id: z.string(), status: z.string() })));

/** The usage object (§2.4). */
export const usage = z.object({
  object: z.literal("usage"),
  requests_today: z.int(),
  requests_this_month: z.int(),
  rate_limit_per_min: z.int(),
});

/** The body of an error (§2.5). */
export const errorBody = z.object({ error: z.object({ code: z.string(), message: z.string().min(1), docs: z.url() }) });

/** Requests per minute and key (§8). */
export const limitPerMin = 60;
