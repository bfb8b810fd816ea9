/** §4.2: the pixels of the account. */
import { expect, test } from "bun:test";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

const active = (id: string) => ({ id, status: "active" });

test("returns all pixels in one response, however many there are", async () => {
  const pixels = Array.from({ length: 250 }, (_, place) => active(`px_${place}`));
  const { as, aKey } = await serve({ pixels });
  expect((await as(aKey()).get("/pixels")).body.data).toHaveLength(250);
});

test("two accounts can have pixels with the same ID, and each gets its own", async () => {
  const { as, aKey, anAccount } = await serve({ pixels: [{ id: "px_1", status: "active" }] });
  const other = anAccount({ pixels: [{ id: "px_1", status: "paused" }] });
  expect((await as(aKey()).get("/pixels")).text).toContain('"status":"active"');
  expect((await as(aKey(other)).get("/pixels")).text).toContain('"status":"paused"');
});

test("every id of the list is accepted as pixel_id", async () => {
  const odd = ["px 1", "a&b=c", "ünï", "%41", "+", "x".repeat(300), "' OR 1=1 --"];
  const { as, aKey } = await serve({ leads: odd.map((pixel_id) => aLead({ pixel_id })) });
  const client = as(aKey());
  const { data } = (await client.get("/pixels")).body;
  expect(data.map((pixel) => pixel.id)).toEqual(odd);
  for (const { id } of data) {
    const { body } = await client.get(`/leads?pixel_id=${encodeURIComponent(id)}`);
    expect(body.data.map((lead) => lead.pixel_id)).toEqual([id]);
  }
});
