/** The 16 combinations of filters with what most leads match, and values that match few or none. */
import type { LeadQuery } from "../../../src/contract/parameters.ts";

export type Where = "newest" | "deep" | "slice";

export interface Case {
  readonly name: string;
  readonly filters: Partial<Pick<Writable, "pixelId" | "state" | "city" | "hasEmail">>;
}
type Writable = { -readonly [Name in keyof LeadQuery]: NonNullable<LeadQuery[Name]> };

const values = { pixelId: "px_shop", state: "CA", city: "los angeles", hasEmail: true } as const;
const words = { pixelId: "pixel", state: "state", city: "city", hasEmail: "e-mail" } as const;
const names = Object.keys(values) as (keyof typeof values)[]; // Object.keys forgets the names.

const combinations: Case[] = Array.from({ length: 2 ** names.length }, (_, bits) => {
  const chosen = names.filter((_, place) => (bits >> place) & 1);
  return {
    name: chosen.map((name) => words[name]).join(", ") || "none",
    filters: Object.fromEntries(chosen.map((name) => [name, values[name]])),
  };
});

export const unfiltered: Case = { name: "none", filters: {} };

export const cases: readonly Case[] = [
  ...combinations,
  { name: "CA with Miami", filters: { state: "CA", city: "miami" } },
  { name: "CA with Miami, e-mail", filters: { state: "CA", city: "miami", hasEmail: true } },
  { name: "pixel, CA with Miami", filters: { pixelId: "px_shop", state: "CA", city: "miami" } },
  { name: "a rare city in CA", filters: { state: "CA", city: "needles" } },
  { name: "a rare city in CA, e-mail", filters: { state: "CA", city: "needles", hasEmail: true } },
  { name: "pixel, a rare city", filters: { pixelId: "px_shop", city: "needles" } },
  { name: "a state without leads", filters: { state: "ZZ" } },
  { name: "a city without leads", filters: { city: "nowhere" } },
  { name: "pixel, a state without leads", filters: { pixelId: "px_shop", state: "ZZ" } },
];
