/** The schemas of requests and answers for Elysia. */
import { t } from "elysia";
import { leadFields } from "../../../packages/conformance/src/specification.ts";
import { patterns } from "./query.ts";

const nullable = t.Union([t.String(), t.Null()]);
const Lead = t.Object(Object.fromEntries(leadFields.map((field) => [field, nullable])));
const word = t.Optional(t.String({ minLength: 1 }));
export const query = t.Object(
  {
    limit: t.Optional(t.String({ pattern: patterns.limit })),
    before: word,
    since: word,
    pixel_id: word,
    state: t.Optional(t.String({ pattern: patterns.state })),
    city: word,
    has_email: t.Optional(t.String({ pattern: patterns.hasEmail })),
  },
  { additionalProperties: false },
);
export const response = t.Object({
  object: t.Literal("list"),
  data: t.Array(Lead),
  has_more: t.Boolean(),
  next_cursor: nullable,
});
