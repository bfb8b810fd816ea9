/** §9: the version is in the path. */
import { expect, test } from "bun:test";
import { serve } from "../support/harness.ts";

test.each(["/api", "/v1", "/api/v0", "/api/v2", "/api/V1", "/api/v1.0", "/api/v01"])(
  "the version is in the path: nothing is below %s",
  async (prefix) => {
    const { send } = await serve();
    const answer = await send({ target: `${prefix}/leads` });
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([404, "not_found"]);
  },
);
