/** The limits of §8. */

/** Leads per page. */
export const pageSize = { min: 1, max: 100, default: 25 } as const;

/** Requests per key and window, unless RATE_LIMIT_PER_MIN changes it. */
export const defaultLimitPerMin = 60;

/** The window is the UTC clock minute. */
export const windowMs = 60_000;

/** The value of Retry-After, in seconds. */
export const retryAfterSeconds = 60;
