/** GET /api/v1/pixels (§4.2): the pixels of the account, in the order in which they were created. */
import type { PixelList } from "../contract/list.ts";
import { readNoQuery } from "../contract/query.ts";
import type { PixelReader } from "../store/reading.ts";
import { keyOf, type RequestContext } from "./context.ts";

/** The body of the list. Throws invalid_parameter for any parameter. */
export function answerPixels(pixels: PixelReader, context: RequestContext): string {
  readNoQuery(context.search);
  const list: PixelList = { object: "list", data: pixels.list(keyOf(context).account) };
  return JSON.stringify(list);
}
