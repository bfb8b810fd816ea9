/** Reads all pages of a list, as clients do. */
import type { Lead } from "../../../src/contract/lead.ts";

/** Returns all leads since a moment, newest first. Throws if a page is refused. */
export async function readPages(url: string, key: string, since: string | null = null): Promise<Lead[]> {
  const leads: Lead[] = [];
  for (let before: string | null = null; ; ) {
    const query = new URLSearchParams({ limit: "100", ...(since && { since }), ...(before && { before }) });
    const answer = await fetch(`${url}/api/v1/leads?${query}`, { headers: { Authorization: `Bearer ${key}` } });
    if (!answer.ok) throw new Error(`a page was answered with ${answer.status}`);
    const page = (await answer.json()) as { data: Lead[]; next_cursor: string | null }; // As §4.1 promises.
    leads.push(...page.data);
    if (page.next_cursor === null) return leads;
    before = page.next_cursor;
  }
}
