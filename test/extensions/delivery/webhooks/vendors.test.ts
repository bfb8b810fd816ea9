/** Payloads of vendors become leads without further configuration when they arrive as webhooks. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { detailFields } from "../../../../src/contract/lead.ts";
import { type Payload, payloads } from "../../../import/payloads.ts";
import { anAdmin } from "../../../support/admin.ts";
import { eventually } from "../../../support/eventually.ts";
import { startReceiving } from "./receiving.ts";

/** Events that no export has, from the documentation of their vendors. */
const events: readonly Payload[] = [
  {
    what: "RB2B: an event whose documented time cannot be read",
    record: { "Business Email": "dana@example.com", "Seen At": "2024-01-01T12:34:56:00.00+00.00" },
    lead: { email: "dana@example.com" },
  },
  {
    what: "Snitcher: a visitor of a company",
    record: {
      event: "visitor.identified",
      timestamp: "2024-01-15T10:30:00Z",
      visitor: {
        company: { name: "Acme Inc", domain: "acme.example.com", employees: "51-200", country: "United States" },
        session: { pages_viewed: 5, duration: 180, source: "google", landing_page: "/pricing" },
      },
    },
    lead: { company: "Acme Inc", page_url: "/pricing", traffic_source: "google" },
  },
  {
    what: "Retention.com: a cart",
    record: {
      email: "dana@example.com",
      event_type: "Add To Cart Reclaim",
      occurred_at: "2023-09-05T20:48:20Z",
      properties: { product_url: "https://www.example.com/shoes", product_name: "Shoes", product_id: "123456" },
    },
    lead: { email: "dana@example.com" },
  },
];
const ofVendors = payloads.filter(({ what }) => /^(?:AudienceLab|HappierLeads|Midbound|RB2B|Snitcher): /.test(what));
const deliveries = [...ofVendors, ...events].filter(({ record }) => typeof record !== "string");
const nothing = Object.fromEntries(detailFields.map((field) => [field, null]));
const headers = { "Content-Type": "application/json", "X-Vendor-Signature": `sha256=${"ab".repeat(32)}` };

test("each vendor's delivery becomes the right lead, stamped on arrival, once however often it is sent", async () => {
  const accounts = deliveries.map(({ what }) => what);
  const admin = anAdmin(accounts, { RECEIVE_PORT: "0", LOG_LEVEL: "silent" });
  const { url } = await startReceiving(admin);
  const sources: string[] = [];
  for (const { what, record } of deliveries) {
    const create = ["source", "create", what, "--pixel", "px_site", "--create-pixels", "--json"];
    const { id, token } = (await admin.run(...create)).json;
    sources.push(id);
    const deliver = () => fetch(`${url}/in/${token}`, { method: "POST", headers, body: JSON.stringify(record) });
    for (let time = 0; time < 2; time++) expect((await deliver()).status).toBe(200);
  }
  for (const { what, lead } of deliveries) {
    await eventually(async () => expect(await admin.leads(what)).toHaveLength(1));
    const [{ id: _, identified_at, ...fields } = { id: "", identified_at: "" }] = await admin.leads(what);
    const { at: __, pixel: pixel_id = "px_site", ...expected } = lead;
    expect({ what, ...fields }).toEqual({ what, ...nothing, ...expected, pixel_id });
    expect(Math.abs(Date.parse(identified_at) - Date.now())).toBeLessThan(120_000);
  }
  for (const source of sources) expect(existsSync(join(`${admin.file}.spool`, source, "rejected"))).toBe(false);
});
