/** The tool list_leads: some leads, newest first, as a table that fits into a model's memory. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Lead, Leadfile, LeadQuery } from "../../client/src/leadfile.ts";
import { cut, type Show } from "./mask.ts";

export const mostLeads = 20;
const longestText = 80;
/** Below the 4,000 that are promised: other models count somewhat otherwise. */
const mostTokens = 3_500;

interface Table {
  readonly columns: readonly string[];
  /** In the order of the columns, newest first. */
  readonly leads: readonly (readonly (string | null)[])[];
  readonly has_more: boolean;
  /** What `before` takes for the next leads; null where there are none. */
  readonly next_before: string | null;
}

/** As many of the leads as fit; the others come with `before` set to `next_before`. */
export async function listLeads(client: Leadfile, show: Show, query: LeadQuery, signal: AbortSignal): Promise<Table> {
  const page = await client.leads.list({ ...query, limit: query.limit ?? mostLeads, signal });
  const columns = columnsOf(page.data);
  const cell = (text: string | null) => (text === null ? null : cut(text, longestText));
  const rows = page.data.map((lead) => columns.map((field) => cell(show(field, lead))));
  const fitting = howManyFit(rows, tokensOf(JSON.stringify(columns)));
  const last = page.data[fitting - 1];
  const hasMore = page.has_more || fitting < rows.length;
  return {
    columns,
    leads: rows.slice(0, fitting),
    has_more: hasMore,
    next_before: hasMore && last !== undefined ? last.identified_at : null,
  };
}

/** The fields that any of the leads has. */
function columnsOf(leads: readonly Lead[]): (keyof Lead)[] {
  const [first] = leads;
  if (first === undefined) return [];
  const fields = Object.keys(first) as (keyof Lead)[]; // A lead has these alone.
  return fields.filter((field) => leads.some((lead) => lead[field] !== null));
}

function howManyFit(rows: readonly (readonly (string | null)[])[], used: number): number {
  // What stands around the table takes less than this.
  let left = mostTokens - used - 100;
  const over = rows.findIndex((row) => (left -= tokensOf(JSON.stringify(row)) + 1) < 0);
  return over === -1 ? rows.length : over;
}

/** Tokens of a text as o200k counts them. What looks like a special token of a model is a text like any other. */
function tokensOf(text: string): number {
  return countTokens(text, { disallowedSpecial: new Set<string>() });
}
