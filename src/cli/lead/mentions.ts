/** Leads that hold an address or phone of a person elsewhere, such as in page_url, in words. */
import { andMore, grouped } from "../terminal/numbers.ts";

/** Nobody reads more ids than this; --dry-run --json prints all of them. */
const mostIds = 100;

export function othersHold(count: number): string {
  return `Another ${grouped(count)} ${count === 1 ? "lead holds" : "leads hold"}`;
}

export function idsText(ids: readonly string[]): string {
  return ids.slice(0, mostIds).join(", ") + andMore(ids.length, mostIds);
}
