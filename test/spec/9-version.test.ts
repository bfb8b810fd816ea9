/** §9: the version is in the path, and the description of the API says so. */
import { expect, test } from "bun:test";
import { serve } from "../support/harness.ts";

/** As much of an OpenAPI document as is looked at here. */
interface Description {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, object>>;
}

test.each(["/api", "/v1", "/api/v0", "/api/v2", "/api/V1", "/api/v1.0", "/api/v01"])(
  "the version is in the path: nothing is below %s",
  async (prefix) => {
    const { send } = await serve();
    const answer = await send({ target: `${prefix}/leads` });
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([404, "not_found"]);
  },
);

test("the description lists the endpoints of this version under the public address", async () => {
  const { url } = await serve({ baseUrl: "https://www.example.com" });
  const description = (await (await fetch(`${url}/openapi.json`)).json()) as Description;
  expect(description.servers).toMatchObject([{ url: "https://www.example.com" }]);
  expect(Object.keys(description.paths)).toEqual(["/api/v1/leads", "/api/v1/pixels", "/api/v1/usage"]);
  for (const path of Object.values(description.paths)) expect(Object.keys(path)).toEqual(["get"]);
});
