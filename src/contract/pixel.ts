/** The pixel (§2.3): what captures the visits. */
import { type Static, Type } from "@sinclair/typebox";

export const Pixel = Type.Object(
  {
    id: Type.String({ description: "Pixel identifier; used as the pixel_id filter on GET /leads." }),
    status: Type.String({ description: "Pixel status.", examples: ["active"] }),
  },
  { $id: "Pixel", additionalProperties: false },
);
export type Pixel = Static<typeof Pixel>;
