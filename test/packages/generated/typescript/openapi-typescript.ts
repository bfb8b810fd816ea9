/** Reads with the types that openapi-typescript generates, and openapi-fetch. */
import createClient from "openapi-fetch";
import { baseUrl, key, ok, read } from "./read.ts";
import type { paths } from "./schema.d.ts";

const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

await read({
  leads: async (query) => ok(await client.GET("/api/v1/leads", { params: { query } })),
  pixels: async () => ok(await client.GET("/api/v1/pixels")),
  usage: async () => ok(await client.GET("/api/v1/usage")),
  refused: async () =>
    (await client.GET("/api/v1/leads", { params: { query: { pixel_id: "px_none" } } })).error?.error.code,
});

// @ts-expect-error A wrong parameter does not compile.
void (() => client.GET("/api/v1/leads", { params: { query: { pixel: "px_none" } } }));
