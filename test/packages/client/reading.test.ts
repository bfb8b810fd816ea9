/** Reading pages, all leads, pixels, and usage. */
import { expect, test } from "bun:test";
import { aLead, someLeads } from "../../support/builders.ts";
import { connected, take } from "./connected.ts";

test("iterates over all leads once, newest first, whatever the page size", async () => {
  const leads = someLeads(25);
  const { leadfile } = await connected({ leads });
  for (const pageSize of [1, 7, 25, 100]) {
    expect(await Array.fromAsync(leadfile.leads.all({ pageSize }))).toEqual(leads.toReversed());
  }
});

test("no page is requested before its leads are needed", async () => {
  const { leadfile, line } = await connected({ leads: someLeads(30) });
  await take(leadfile.leads.all({ pageSize: 10 }), 10);
  expect(line.heads).toHaveLength(1);
});

test("sends filters under their API names, and a Date as its time", async () => {
  const leads = [aLead(), aLead({ city: "Łódź & Co", state: "NY" }), aLead({ email: null, city: "Łódź & Co" })];
  const { leadfile } = await connected({ leads });
  const since = new Date(leads[0]?.identified_at ?? "");
  const found = await Array.fromAsync(
    leadfile.leads.all({ city: "łódź & co", has_email: true, pixel_id: "px_site", since }),
  );
  expect(found).toEqual(leads.slice(1, 2));
  expect(await Array.fromAsync(leadfile.leads.all({ before: since, state: undefined }))).toEqual([]);
});

test.each(["since", "before"])(
  "an invalid Date as %s is refused with its name, and no request is sent",
  async (name) => {
    const { leadfile, line } = await connected({ leads: [] });
    const asked = leadfile.leads.list({ [name]: new Date("yesterday") });
    await expect(asked).rejects.toThrow(
      expect.objectContaining({ name: "SettingError", message: expect.stringContaining(name) }),
    );
    expect(line.heads).toHaveLength(0);
  },
);

test("pixels are in the order of the server, and usage counts its own call", async () => {
  const pixels = [
    { id: "px_b", status: "active" },
    { id: "px_a", status: "paused" },
  ];
  const { leadfile } = await connected({ pixels });
  expect(await leadfile.pixels.list()).toEqual(pixels);
  expect(await leadfile.usage.get()).toMatchObject({ object: "usage", requests_today: 2 });
});

test("a cursor that does not move, or a page without one, is an error and no endless loop", async () => {
  const lead = aLead();
  for (const next of [lead.identified_at, null, "soon"]) {
    const { aClient } = await connected();
    const answer = { object: "list", data: [lead], has_more: true, next_cursor: next };
    const leadfile = aClient({ retries: 0, fetch: async () => Response.json(answer) });
    await expect(Array.fromAsync(leadfile.leads.all())).rejects.toThrow("a body of another shape");
  }
});

test.each([
  ["2026-01-31", "2026-01-31T00%3A00%3A00.000Z"],
  [new Date("2026-01-31T09:15:00Z"), "2026-01-31T09%3A15%3A00.000Z"],
  ["2026-01-31T09:15:00+01:00", "2026-01-31T09%3A15%3A00%2B01%3A00"],
])("since and before take %p in every call", async (time, sent) => {
  const { leadfile, line } = await connected({ leads: someLeads(1) });
  await leadfile.leads.list({ since: time, before: time });
  await Array.fromAsync(leadfile.leads.all({ since: time, before: time }));
  for (const head of line.heads) expect(head).toContain(`since=${sent}&before=${sent}`);
  const [batch] = await take(leadfile.leads.batches({ since: time }), 1);
  expect(JSON.parse(batch?.checkpoint ?? "")).toMatchObject({ from: new Date(time).getTime() });
});

test.each(["2026-02-30", "2026-13-01"])(
  "a day that does not exist, such as %s, is refused with its name",
  async (day) => {
    const { leadfile } = await connected();
    await expect(leadfile.leads.list({ since: day })).rejects.toThrow("since takes a Date, a day, or a time");
    await expect(take(leadfile.leads.follow({ since: day }), 1)).rejects.toThrow(
      "since takes a Date, a day, or a time",
    );
  },
);

test("a page carries the ID of its request and the limit", async () => {
  const { leadfile, clock } = await connected({ leads: someLeads(1), limit: 7 });
  const { requestId, rateLimit } = await leadfile.leads.list();
  expect(requestId).toMatch(/^[\da-f-]{36}$/);
  const resetsAt = new Date(Math.ceil((clock.nowMs + 1) / 60_000) * 60_000);
  expect(rateLimit).toEqual({ limit: 7, remaining: 6, resetsAt });
});
