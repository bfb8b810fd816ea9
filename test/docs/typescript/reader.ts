/** A program that a developer would write with the generated types: it walks all leads of a state. */
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

const [baseUrl = "", key = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

const leads: components["schemas"]["Lead"][] = [];
let before: string | undefined;
do {
  const { data, error } = await client.GET("/api/v1/leads", {
    params: { query: { limit: 2, state: "CA", has_email: true, ...(before === undefined ? {} : { before }) } },
  });
  if (error !== undefined) throw new Error(`${error.error.code}: ${error.error.message}`);
  leads.push(...data.data);
  before = data.next_cursor ?? undefined;
} while (before !== undefined);

const pixels = await client.GET("/api/v1/pixels");
const usage = await client.GET("/api/v1/usage");
const refused = await client.GET("/api/v1/leads", { params: { query: { limit: 101 } } });
const code: components["schemas"]["Error"]["error"]["code"] | undefined = refused.error?.error.code;

process.stdout.write(
  JSON.stringify({
    names: leads.map(({ name }) => name?.toUpperCase() ?? "?"),
    pixels: pixels.data?.data.map(({ id, status }) => `${id} ${status}`),
    requests: usage.data?.requests_today,
    code,
  }),
);
