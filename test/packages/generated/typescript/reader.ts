/** Reads everything with the types that openapi-typescript generates, and openapi-fetch. */
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

const [baseUrl = "", key = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

const leads: components["schemas"]["Lead"][] = [];
let before: string | undefined;
do {
  const { data, error } = await client.GET("/api/v1/leads", {
    params: { query: { limit: 100, since: "2020-01-01T00:00:00Z", ...(before === undefined ? {} : { before }) } },
  });
  if (error !== undefined) throw new Error(`${error.error.code}: ${error.error.message}`);
  leads.push(...data.data);
  before = data.next_cursor ?? undefined;
} while (before !== undefined);

const filtered = await client.GET("/api/v1/leads", { params: { query: { state: "NV", has_email: true } } });
const pixels = await client.GET("/api/v1/pixels");
const usage = await client.GET("/api/v1/usage");
const refused = await client.GET("/api/v1/leads", { params: { query: { pixel_id: "px_none" } } });
const code: components["schemas"]["ErrorDetail"]["code"] | undefined = refused.error?.error.code;

process.stdout.write(
  JSON.stringify({
    leads: new Set(leads.map(({ id }) => id)).size,
    newest: Math.floor(Date.parse(leads[0]?.identified_at ?? "") / 1000),
    names: filtered.data?.data.map(({ name }) => name),
    pixels: pixels.data?.data.map(({ id, status }) => `${id} ${status}`),
    requests: usage.data?.requests_today,
    code,
  }),
);
