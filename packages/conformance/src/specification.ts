/** The names and numbers of the specification that the checks compare a server with. */

/** The endpoints (§4). */
export const paths = { leads: "/api/v1/leads", pixels: "/api/v1/pixels", usage: "/api/v1/usage" };

/** The fields of a lead, in the order of the table (§2.2). */
export const leadFields = [
  "id",
  "identified_at",
  "pixel_id",
  "name",
  "email",
  "verified_email",
  "phone",
  "company",
  "city",
  "state",
  "gender",
  "age_range",
  "income_range",
  "net_worth",
  "marital_status",
  "homeowner",
  "children",
  "page_url",
  "referrer",
  "traffic_source",
] as const;

/** The status of each error code (§7). */
export const statusOf: Readonly<Record<string, number>> = {
  missing_api_key: 401,
  invalid_api_key: 401,
  revoked_api_key: 401,
  subscription_required: 403,
  invalid_parameter: 400,
  invalid_cursor: 400,
  unknown_pixel: 404,
  not_found: 404,
  method_not_allowed: 405,
  rate_limit_exceeded: 429,
  internal_error: 500,
  query_failed: 500,
};

/** Requests per minute and key (§8). */
export const limitPerMin = 60;
