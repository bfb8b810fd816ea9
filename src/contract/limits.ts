/** The limits of §8. */

/** Requests per key and window, unless the instance is set otherwise. */
export const defaultLimitPerMin = 60;

/** The window is the UTC clock minute. */
export const windowMs = 60_000;

/** What Retry-After says, in seconds. */
export const retryAfterSeconds = 60;

/** How many leads a page has. */
export const pageSize = { least: 1, most: 100, usual: 25 } as const;
