/** The tool list_leads: some leads, newest first, as a table that fits into the context of a model. */
import type { Lead, Leadfile, LeadQuery } from "../../client/src/leadfile.ts";
import { cut, type Show } from "./mask.ts";

export const maxLeads = 20;
const maxTextLength = 80;
/** Below the promised 4,000, because other models count tokens differently. */
const maxTokens = 3_500;

/** Returns as many leads as fit; `before` set to `next_before` returns the others. */
export async function listLeads(client: Leadfile, show: Show, query: LeadQuery, signal: AbortSignal) {
  // Loaded on first use, because its vocabulary takes most of the startup time.
  const [page, { countTokens }] = await Promise.all([
    client.leads.list({ ...query, limit: query.limit ?? maxLeads, signal }),
    import("gpt-tokenizer/encoding/o200k_base"),
  ]);
  /** Counts tokens as o200k does. A special token of a model in the text is counted as text. */
  const tokensOf = (text: string) => countTokens(text, { disallowedSpecial: new Set<string>() });
  const columns = columnsOf(page.data);
  const cell = (text: string | null) => (text === null ? null : cut(text, maxTextLength));
  const rows = page.data.map((lead) => columns.map((field) => cell(show(field, lead))));
  const fitting = howManyFit(
    rows.map((row) => tokensOf(JSON.stringify(row))),
    tokensOf(JSON.stringify(columns)),
  );
  const last = page.data[fitting - 1];
  const hasMore = page.has_more || fitting < rows.length;
  return {
    columns,
    /** In the order of the columns, newest first. */
    leads: rows.slice(0, fitting),
    has_more: hasMore,
    /** The value of `before` for the next leads; null if there are none. */
    next_before: hasMore && last !== undefined ? last.identified_at : null,
  };
}

/** Returns the fields that at least one lead has. */
function columnsOf(leads: readonly Lead[]): (keyof Lead)[] {
  const [first] = leads;
  if (first === undefined) return [];
  const fields = Object.keys(first) as (keyof Lead)[]; // A lead has these alone.
  return fields.filter((field) => leads.some((lead) => lead[field] !== null));
}

function howManyFit(tokensOfRows: readonly number[], used: number): number {
  // The JSON around the table takes fewer than 100 tokens.
  let left = maxTokens - used - 100;
  const over = tokensOfRows.findIndex((tokens) => (left -= tokens + 1) < 0);
  return over === -1 ? tokensOfRows.length : over;
}
