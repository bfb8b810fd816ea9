/** One answer of the server under test. */

export interface Answer {
  /** What was asked, for the report: a method and a target, never a key. */
  readonly asked: string;
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where it is no JSON. */
  readonly body: unknown;
}
