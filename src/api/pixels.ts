/** GET /api/v1/pixels (§4.2): the pixels of the account, in the order in which they were created. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { errorResponses } from "../contract/errors.ts";
import { paths } from "../contract/paths.ts";
import { PixelList } from "../contract/pixel.ts";
import { pixelExamples } from "./docs/examples.ts";
import { strictQuery } from "./query.ts";
import { requestContext } from "./request-context.ts";
import type { RequestStore } from "./request-store.ts";

/** Makes the route. All pixels of the account are one response. */
export function pixelRoute({ pixels }: RequestStore) {
  return new Elysia().use(requestContext).get(
    paths.pixels,
    ({ context, key }) => {
      const list: PixelList = { object: "list", data: pixels.list(key.account) };
      return context.respondJson({ status: 200, body: JSON.stringify(list) });
    },
    {
      ...strictQuery(Type.Object({})),
      response: { 200: PixelList, ...errorResponses },
      detail: {
        "x-examples": pixelExamples,
        operationId: "listPixels",
        tags: ["Pixels"],
        summary: "List pixels",
        description: `Returns the pixels of the account in the order in which they were created. Their IDs are the values of \`pixel_id\` on GET ${paths.leads}.`,
      },
    },
  );
}
