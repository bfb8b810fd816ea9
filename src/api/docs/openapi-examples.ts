/** The examples of the description. Those of the bodies are the JSON blocks of docs/api.md. */
import markdown from "../../../docs/api.md" with { type: "text" };
import { type ErrorCode, errors } from "../../contract/errors.ts";
import { accepts } from "../../contract/parameters.ts";

export type Json = null | boolean | number | string | undefined | readonly Json[] | { readonly [name: string]: Json };
type Body = { readonly [name: string]: Json };

const [page, pixels, usage] = [...markdown.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
  ([, text = ""]): Body => JSON.parse(text), // A test compares each with the schema of its response.
);

interface BodyExamples {
  readonly description: string;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: Body | undefined }>>;
}

/** The responses that are not errors, by the name of their schema. */
export const bodyExamples: Readonly<Record<string, BodyExamples>> = {
  LeadList: {
    description: "A page of leads.",
    examples: {
      page: { summary: "A page with more after it: request the next one with before=next_cursor.", value: page },
      last_page: { summary: "The last page.", value: { ...page, has_more: false, next_cursor: null } },
    },
  },
  PixelList: {
    description: "All pixels of the account.",
    examples: { pixels: { summary: "Every pixel has an ID and a status.", value: pixels } },
  },
  Usage: {
    description: "The counts of the presented key.",
    examples: { usage: { summary: "This request is counted as well.", value: usage } },
  },
  Redirect: {
    description:
      "The request came to the bare domain or over plain HTTP. Send it to `url` yourself: many clients drop the " +
      "Authorization header when they follow a redirect to another host. It is not counted anywhere.",
  },
};

/** Returns the message that comes with a code. For a 400, it is one of the possible messages. */
export function exampleMessage(code: ErrorCode, limitPerMin: number): string {
  if (code === "rate_limit_exceeded") return errors[code].message(limitPerMin);
  if (code === "invalid_parameter") return errors[code].message("limit", accepts.limit);
  if (code === "invalid_cursor") return errors[code].message("before", accepts.before);
  return errors[code].message;
}
