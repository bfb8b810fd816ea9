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

/** Whether a text can be the id of a pixel: up to 200 characters, none of which only controls a terminal. */
export function isPixelId(text: string): boolean {
  return text === text.trim() && isName(text);
}

/** Whether people and terminals can live with a text as a name: 1 to 200 characters, and none that only controls. */
export function isName(text: string): boolean {
  return text.trim() !== "" && [...text].length <= 200 && !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text);
}
