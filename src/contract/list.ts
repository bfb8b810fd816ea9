/** The envelope of lists (§2.1). That of leads is written by http/leads, around documents as they are stored. */
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
