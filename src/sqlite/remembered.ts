/** Keys and pages that are asked for again and again, answered out of memory while nobody writes to the file. */
import type { LeadQuery } from "../contract/parameters.ts";
import type { AccountNumber, KeyFinder, KnownKey, LeadPage, LeadReader } from "../store.ts";
import type { Memory } from "./memory.ts";

/** All keys of an instance, unless it is a very large one. */
const mostKeys = 20_000;
/** At 100 leads each they take some 20 MB. */
const mostPages = 200;

export function rememberKeys(keys: KeyFinder, memory: Memory): KeyFinder {
  const place = memory.place<KnownKey | null>(mostKeys);
  return { find: (digest) => place.recall(digest.toString("latin1"), () => keys.find(digest)) };
}

/** The page that is remembered is the same object, so that what is made of it can be remembered with it. */
export function rememberPages(leads: LeadReader, memory: Memory): LeadReader {
  const place = memory.place<LeadPage>(mostPages);
  return { page: (account, query) => place.recall(questionOf(account, query), () => leads.page(account, query)) };
}

/** The same text for the same page, and for no other. */
function questionOf(account: AccountNumber, query: LeadQuery): string {
  const { limit, beforeMs, sinceMs, state, hasEmail, pixelId, city } = query;
  const plain = `${account} ${limit} ${beforeMs} ${sinceMs} ${state} ${hasEmail}`;
  // What a client words freely must not read like something else.
  return pixelId === null && city === null ? plain : `${plain} ${JSON.stringify([pixelId, city])}`;
}
