/** Leads that hold an address or phone of a person elsewhere, such as in page_url, in words. */
import { grouped } from "../terminal/numbers.ts";

/** Nobody reads more ids than this; --dry-run --json prints all of them. */
const mostIds = 100;

export function othersHold(count: number): string {
  return `Another ${grouped(count)} ${count === 1 ? "lead holds" : "leads hold"}`;
}

export function idsText(ids: readonly string[]): string {
  const more = ids.length > mostIds ? ` and ${grouped(ids.length - mostIds)} more` : "";
  return `${ids.slice(0, mostIds).join(", ")}${more}`;
}
