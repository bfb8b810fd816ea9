/** The envelope of lists (§2.1). */
import { type Static, Type } from "@sinclair/typebox";
import { Lead, moment } from "./lead.ts";
import { Pixel } from "./pixel.ts";

export const LeadList = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(Lead),
    has_more: Type.Boolean({ description: "True when further pages exist." }),
    next_cursor: Type.Union([moment("Pass it as the before parameter to get the next page."), Type.Null()], {
      description: "The identified_at of the last lead of this page; null exactly when has_more is false.",
    }),
  },
  { $id: "LeadList", additionalProperties: false },
);
export type LeadList = Static<typeof LeadList>;

export const PixelList = Type.Object(
  { object: Type.Literal("list"), data: Type.Array(Pixel) },
  { $id: "PixelList", additionalProperties: false },
);
export type PixelList = Static<typeof PixelList>;

const head = Buffer.from(`{"object":"list","data":[`);
const comma = Buffer.from(",");

/** Joins stored documents, in UTF-8, into the body of GET /leads: no lead is parsed, rebuilt or even decoded. */
export function writeLeadList(documents: readonly Uint8Array[], nextCursor: string | null): Uint8Array {
  const next =
    nextCursor === null ? `],"has_more":false,"next_cursor":null}` : `],"has_more":true,"next_cursor":"${nextCursor}"}`;
  const parts: Uint8Array[] = [head];
  for (const document of documents) parts.push(document, comma);
  if (documents.length > 0) parts.pop();
  parts.push(Buffer.from(next));
  return Buffer.concat(parts);
}
