/** Reads with the client that hey-api generates. */
import { client } from "./client/client.gen.ts";
import { getUsage, listLeads, listPixels } from "./client/index.ts";
import { baseUrl, key, ok, read } from "./read.ts";

client.setConfig({ baseUrl, auth: key });

await read({
  leads: async (query) => ok(await listLeads({ query })),
  pixels: async () => ok(await listPixels()),
  usage: async () => ok(await getUsage()),
  refused: async () => (await listLeads({ query: { pixel_id: "px_none" } })).error?.error.code,
});

// @ts-expect-error A wrong parameter does not compile.
void (() => listLeads({ query: { pixel: "px_none" } }));
