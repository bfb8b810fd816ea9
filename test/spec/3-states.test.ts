/** §3: the states of keys, subscriptions and pixels. */
import { expect, test } from "bun:test";
import { setSubscription } from "../../src/db/accounts.ts";
import { setPixelStatus } from "../../src/db/pixels.ts";
import { aLead, noonMs } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

test("revoking one key leaves the other keys of the account as they are", async () => {
  const { as, aKey, aRevokedKey } = await serve();
  const other = aKey();
  aRevokedKey();
  expect((await as(other).get("/leads")).status).toBe(200);
});

test.each(["/leads", "/pixels", "/usage"])(
  "without an active subscription %s answers 403 subscription_required, and is served again at once when it is active",
  async (path) => {
    const { as, aKey, database, account } = await serve({ leads: [aLead()] });
    const client = as(aKey());
    await setSubscription(database, account, false, noonMs);
    const refused = await client.get(path);
    expect(refused).toMatchObject({ status: 403, body: { error: { code: "subscription_required" } } });
    expect(refused.headers.get("www-authenticate")).toBeNull();
    await setSubscription(database, account, true, noonMs);
    expect((await client.get(path)).status).toBe(200);
  },
);

test("the subscription of one account does not affect another", async () => {
  const { as, aKey, anAccount } = await serve({ active: false });
  expect((await as(aKey(anAccount())).get("/leads")).status).toBe(200);
});

test("serves the leads of a pixel whatever its status", async () => {
  const { as, aKey, database, account } = await serve({ leads: [aLead({ pixel_id: "px_shop" })] });
  const client = as(aKey());
  await setPixelStatus(database, account.number, { id: "px_shop", status: "paused" });
  expect((await client.get("/pixels")).text).toContain('{"id":"px_shop","status":"paused"}');
  expect((await client.get("/leads?pixel_id=px_shop")).body.data).toHaveLength(1);
});
