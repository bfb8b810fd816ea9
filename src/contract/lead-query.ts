/** What a page of leads is chosen by (§4.1). */

/** The parameters of a request, once they are read; null filters nothing. */
export interface LeadQuery {
  readonly limit: number;
  /** Only leads strictly before this moment, in Unix milliseconds. */
  readonly beforeMs: number | null;
  /** Only leads at or after this moment, in Unix milliseconds. */
  readonly sinceMs: number | null;
  readonly pixelId: string | null;
  /** Two upper-case letters. */
  readonly state: string | null;
  /** A city in the form of `cityKey`. */
  readonly city: string | null;
  readonly hasEmail: boolean;
}
