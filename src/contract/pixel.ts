/** The pixel (§2.3), which captures visits, and the list of pixels. */
import { type Static, Type } from "@sinclair/typebox";

export const Pixel = Type.Object(
  {
    id: Type.String({ description: "Pixel identifier; used as the pixel_id filter on GET /leads." }),
    status: Type.String({ description: "Pixel status.", examples: ["active"] }),
  },
  { $id: "Pixel" },
);
export type Pixel = Static<typeof Pixel>;

/** The list of pixels (§2.1). */
export const PixelList = Type.Object(
  { object: Type.Literal("list"), data: Type.Array(Pixel) },
  { $id: "PixelList", description: "All pixels of the account." },
);
export type PixelList = Static<typeof PixelList>;

/** Returns whether a text can be the ID of a pixel: a name, and neither a list nor a word for "no value". */
export function isPixelId(text: string): boolean {
  return (
    text === text.trim() &&
    isName(text) &&
    !text.startsWith("[") &&
    !/^(?:--?|n\/a|null|nan|undefined|\\n)$/i.test(text)
  );
}

/** Returns whether a text can be a name: 1 to 200 characters, none of them a control character. */
export function isName(text: string): boolean {
  return text.trim() !== "" && (text.length <= 200 || [...text].length <= 200) && !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text);
}
