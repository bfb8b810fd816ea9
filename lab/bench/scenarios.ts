/** The requests of the benchmark, and the servers that get them. */

export interface Scenario {
  readonly name: string;
  /** Path and query. */
  readonly target: string;
  /** True if each request asks for another place in the year, so that no answer is repeated. */
  readonly varied: boolean;
}

const leads = "/api/v1/leads";

/** Asked of every server. */
export const scenarios: readonly Scenario[] = [
  { name: "first page of 25, again and again", target: leads, varied: false },
  { name: "page of 25 anywhere in the year, never repeated", target: leads, varied: true },
  {
    name: "state CA with city Miami, before anywhere in the year",
    target: `${leads}?state=CA&city=Miami`,
    varied: true,
  },
  { name: "page of 100, again and again", target: `${leads}?limit=100`, varied: false },
  { name: "page of 100 anywhere in the year, never repeated", target: `${leads}?limit=100`, varied: true },
];

/** Asked of Leadfile in special circumstances as well: the first two. */
export const special: readonly Scenario[] = scenarios.slice(0, 2);
