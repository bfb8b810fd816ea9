/** Signed deliveries: only a sender that knows the secret of a source can deliver to it. */
import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { anAdmin } from "../../../support/admin.ts";
import { receive, sentenceOf } from "./receiving.ts";

const body = '{"email":"dana@example.com"}';
const nowMs = Date.parse("2026-03-01T12:00:00Z");
const digest = (secret: string, text = body) => createHmac("sha256", secret).update(text).digest();
const other = digest("another secret");
const mine = digest("s3cret");

async function deliverTo(signature: { secret: string; header: string }, headers: Record<string, string>) {
  const { deliver, kept } = await receive({ signature, nowMs });
  const answer = await deliver(body, headers);
  return { status: answer.status, why: answer.status === 200 ? "" : await sentenceOf(answer), kept: kept().length };
}

describe("the HMAC-SHA256 of the body in a header", () => {
  const source = { secret: "s3cret", header: "X-Vendor-Signature" };

  test.each([
    ["in hex", mine.toString("hex")],
    ["in uppercase", mine.toString("hex").toUpperCase()],
    ["in base64", mine.toString("base64")],
    ["after sha256=", `sha256=${mine.toString("hex")}`],
  ])("is accepted %s", async (_, value) => {
    expect(await deliverTo(source, { "x-vendor-signature": value })).toEqual({ status: 200, why: "", kept: 1 });
  });

  test.each<[string, Record<string, string>, string]>([
    ["is missing", {}, "The header X-Vendor-Signature is missing"],
    ["has another name", { "X-Signature": mine.toString("hex") }, "X-Vendor-Signature is missing"],
    ["is of another secret", { "X-Vendor-Signature": other.toString("hex") }, "does not match this body"],
    [
      "is of another body",
      { "X-Vendor-Signature": digest("s3cret", "{}").toString("hex") },
      "does not match this body",
    ],
    ["is cut off", { "X-Vendor-Signature": mine.toString("hex").slice(1) }, "does not match this body"],
    ["is no signature", { "X-Vendor-Signature": "sha256=" }, "does not match this body"],
  ])("refuses a delivery that %s with 401", async (_, headers, says) => {
    const { status, why, kept } = await deliverTo(source, headers);
    expect({ status, kept }).toEqual({ status: 401, kept: 0 });
    expect(why).toContain(says);
  });
});

describe("Standard Webhooks", () => {
  const key = Buffer.from("0123456789abcdef01234567");
  const source = { secret: `whsec_${key.toString("base64")}`, header: "X-Signature" };
  const signed = (seconds: number, secret: string | Buffer = key) => ({
    "webhook-id": "msg_1",
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,${createHmac("sha256", secret).update(`msg_1.${seconds}.${body}`).digest("base64")}`,
  });
  const nowSeconds = nowMs / 1000;

  test("are accepted, also with the signature of a second secret, or with a secret that is no base64", async () => {
    const both = { ...signed(nowSeconds), "webhook-signature": `v1,AAAA ${signed(nowSeconds)["webhook-signature"]}` };
    expect((await deliverTo(source, signed(nowSeconds - 299))).status).toBe(200);
    expect((await deliverTo(source, both)).status).toBe(200);
    expect((await deliverTo({ ...source, secret: "s3cret" }, signed(nowSeconds, "s3cret"))).status).toBe(200);
  });

  test.each<[string, Record<string, string>, string]>([
    ["of another secret", signed(nowSeconds, "another"), "The webhook-signature does not match"],
    ["of another ID", { ...signed(nowSeconds), "webhook-id": "msg_2" }, "The webhook-signature does not match"],
    ["of six minutes ago", signed(nowSeconds - 360), "check the clocks"],
    ["of the future", signed(nowSeconds + 360), "check the clocks"],
    ["without a time", { ...signed(nowSeconds), "webhook-timestamp": "" }, "check the clocks"],
  ])("refuse a delivery %s with 401", async (_, headers, says) => {
    const { status, why, kept } = await deliverTo(source, headers);
    expect({ status, kept }).toEqual({ status: 401, kept: 0 });
    expect(why).toContain(says);
  });
});

test("the secret is read from standard input and shown by no command", async () => {
  const admin = anAdmin();
  const options = ["--secret", "-", "--signature-header", "X-Vendor", "--json"];
  const made = await admin.give("s3cret-of-vendor\n", "source", "create", "acme", ...options);
  expect(made.json).toMatchObject({ signature_header: "X-Vendor" });
  const listed = await admin.run("source", "list", "acme", "--json");
  const told = await admin.give(body, "source", "test", made.json.id, "--json");
  for (const { stdout, stderr } of [made, listed, told]) expect(stdout + stderr).not.toContain("s3cret-of-vendor");
  expect(JSON.parse(listed.stdout)).toMatchObject([{ signature_header: "X-Vendor" }]);
});

test.each([
  [["--secret", " "], "--secret is empty"],
  [["--signature-header", "X-Vendor"], "--signature-header needs --secret"],
  [["--secret", "x", "--signature-header", "X Vendor"], "which is not a header name"],
])("source create %j is a usage error", async (options, says) => {
  const { status, stderr } = await anAdmin().run("source", "create", "acme", ...options);
  expect([status, stderr]).toEqual([2, expect.stringContaining(says)]);
});
