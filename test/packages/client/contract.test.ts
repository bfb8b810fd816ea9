/** The client has the types, the errors and the version of the server that it comes with. */
import { expect, test } from "bun:test";
import { version as serverVersion } from "../../../package.json";
import { version } from "../../../packages/client/package.json";
import follow from "../../../packages/client/program/package.json";
import * as client from "../../../packages/client/src/leadfile.ts";
import conformance from "../../../packages/conformance/package.json";
import mcp from "../../../packages/mcp/package.json";
import { errorCodes, errors } from "../../../src/contract/errors.ts";
import type { Lead, LeadList } from "../../../src/contract/lead.ts";
import type { PixelList } from "../../../src/contract/pixel.ts";
import type { Usage } from "../../../src/contract/usage.ts";
import { contractFile, contractText } from "./generate.ts";

test("the types of the client match the contract (bun test/packages/client/generate.ts updates them)", async () => {
  expect(await Bun.file(contractFile).text()).toBe(contractText());
});

/** A body of the one type where the other is expected: the compiler holds both, in both directions. */
type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;

test("each type of the client is assignable to that of the contract, and the reverse", () => {
  const same: [
    Same<client.Lead, Lead>,
    Same<client.LeadList, LeadList>,
    Same<client.PixelList, PixelList>,
    Same<client.Usage, Usage>,
    Same<client.Lead, Omit<Lead, "email">>,
  ] = [true, true, true, true, false];
  expect(same).toEqual([true, true, true, true, false]);
});

test("every error code has its status and its own class, named after it", async () => {
  const statuses = Object.entries(client.errorCodes).map(([code, [status]]) => [code, status]);
  expect<unknown>(statuses).toEqual(Object.entries(errors).map(([code, { status }]) => [code, status]));
  for (const code of errorCodes) {
    const body = { error: { code, message: `about ${code}`, docs: `https://www.example.com/docs#${code}` } };
    const fetch = async () => Response.json(body, { status: 400, headers: { "X-Request-Id": "r1" } });
    const leadfile = new client.Leadfile({ baseUrl: "https://www.example.com", key: "lf_someKey1", retries: 0, fetch });
    const error = await leadfile.usage.get().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(client.ApiError);
    expect(error).toMatchObject({ code, message: `about ${code}`, docs: body.error.docs, requestId: "r1" });
    const words = code.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
    expect((error as Error).name).toBe(`${words.join("").replace(/Error$/, "")}Error`);
    expect((error as Error).constructor.name).toBe((error as Error).name);
  }
});

test("every package has the version of the server", () => {
  expect([version, follow.version, mcp.version, conformance.version]).toEqual(Array(4).fill(serverVersion));
});
