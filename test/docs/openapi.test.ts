/** /openapi.json: valid, complete, and true in every example. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import type { TSchema } from "@sinclair/typebox";
import type { RequestStore } from "../../src/api/request-store.ts";
import { ErrorResponse, errorCodes, Redirect } from "../../src/contract/errors.ts";
import { Lead, LeadList } from "../../src/contract/lead.ts";
import { LeadParameters } from "../../src/contract/parameters.ts";
import { Pixel, PixelList } from "../../src/contract/pixel.ts";
import { Usage } from "../../src/contract/usage.ts";
import { DatabaseUnavailable } from "../../src/db/connection.ts";
import { aLead } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { needing } from "../support/needing.ts";
import { describedBy } from "./described.ts";

/** The description from a server with a public address: the linters reject 127.0.0.1. */
const published = async () =>
  (await fetch(`${(await serve({ baseUrl: "https://www.acme.test" })).url}/openapi.json`)).text();

test("Redocly finds no problem in it by its recommended rules", async () => {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const source = await published();
  expect(JSON.parse(source)).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./) });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([]);
});

const spectral = join(homedir(), ".cache/leadfile-tools/generators/node_modules/@stoplight/spectral-cli/dist/index.js");

needing(spectral)("Spectral finds no problem in it by its rules for OpenAPI, of any severity", async () => {
  const folder = aFolder();
  writeFileSync(join(folder, "openapi.json"), await published());
  // Two rules outside of Spectral's recommended set are off: an operator has no public email address, and in OpenAPI 3.1, a
  // license has either an identifier or a URL.
  const rules = { extends: [["spectral:oas", "all"]], rules: { "contact-properties": "off", "license-url": "off" } };
  writeFileSync(join(folder, "rules.yaml"), JSON.stringify(rules));
  const options = ["--ruleset", "rules.yaml", "--format", "text", "--fail-severity", "hint"];
  const linted = await Bun.$`${process.execPath} ${spectral} lint openapi.json ${options}`.cwd(folder).nothrow();
  expect(linted.stdout.toString().trim()).toBe("No results with a severity of 'hint' or higher found!");
});

test("it describes the three operations at the public address, and every parameter with an example or a choice", async () => {
  const { document } = await describedBy((await serve({ baseUrl: "https://www.example.com" })).url);
  expect(document.servers).toMatchObject([{ url: "https://www.example.com" }]);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${method} ${path}: ${operationId}`),
  );
  expect(operations).toEqual([
    "get /api/v1/leads: listLeads",
    "get /api/v1/pixels: listPixels",
    "get /api/v1/usage: getUsage",
  ]);
  const described = document.paths["/api/v1/leads"]?.get.parameters ?? [];
  expect(described.map(({ name }) => name)).toEqual(Object.keys(LeadParameters.properties));
  for (const { name, description, schema } of described) {
    expect({ name, length: description.length }).toEqual({ name, length: expect.any(Number) });
    expect(description).toMatch(/ Takes .+\. Anything else is 40[04] `\w+`\.$/);
    expect("examples" in schema || schema.type === "boolean").toBe(true);
  }
});

/** A schema of the contract as OpenAPI writes it: named schemas as references, and unions with null as a list of types. */
function asDescribed(schema: TSchema, isNested = true): unknown {
  if (isNested && schema.$id !== undefined) return { $ref: `#/components/schemas/${schema.$id}` };
  // Elysia adds the last one to a schema that another test of this process has compiled.
  const { $id, anyOf, properties, items, additionalProperties, ...rest } = schema;
  const options: TSchema[] | undefined = anyOf;
  const isNullable = options?.some(({ type }) => type === "null") === true;
  return {
    ...(isNullable ? { ...options?.[0], ...rest, type: ["string", "null"] } : rest),
    ...(options === undefined || isNullable ? {} : { type: "string", enum: options.map((option) => option["const"]) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries<TSchema>(properties).map(([name, one]) => [name, asDescribed(one)]),
          ),
        }),
    ...(items === undefined ? {} : { items: asDescribed(items) }),
  };
}

test("its schemas are those of the contract, field by field and in their order", async () => {
  const { document } = await describedBy((await serve()).url);
  const contract = [Lead, LeadList, Pixel, PixelList, Usage, ErrorResponse, Redirect, ErrorResponse.properties.error];
  // The description of a response is next to its schema.
  const expected = Object.fromEntries(
    contract.map(({ description, ...schema }) => [schema.$id, asDescribed(schema as TSchema, false)]),
  );
  expect(document.components.schemas).toEqual(JSON.parse(JSON.stringify(expected)));
  const fields = (schema: object | undefined) => Object.keys(Object(schema).properties);
  expect(fields(document.components.schemas["Lead"])).toEqual(Object.keys(Lead.properties));
  for (const name of ["Lead", "LeadList", "PixelList", "Usage", "ErrorResponse"]) {
    expect(fields(document.components.schemas[name]).length).toBeGreaterThan(0);
  }
});

test.each([1, 10, 60])("with a limit of %i, the example of X-RateLimit-Remaining is one below it", async (limit) => {
  const { document } = await describedBy((await serve({ limit })).url);
  expect(document.components.headers).toMatchObject({
    "X-RateLimit-Limit": { schema: { examples: [limit] } },
    "X-RateLimit-Remaining": { schema: { examples: [limit - 1] } },
  });
});

test("the code of an error is open, and the description names those of today", async () => {
  const { document } = await describedBy((await serve()).url);
  const { code } = Object(document.components.schemas["ErrorDetail"]).properties;
  expect(code).toMatchObject({ type: "string", examples: [...errorCodes] });
  expect(code).not.toHaveProperty("enum");
});

/** Unknown paths and methods belong to no operation. */
const ofOperations = errorCodes.filter((code) => code !== "not_found" && code !== "method_not_allowed");

describe("the example of an error is what the server answers:", () => {
  test.each(ofOperations.map((code) => [code]))("%s", async (code) => {
    const { url, body } = await provoke(code);
    const { document } = await describedBy(url);
    const responses = document.paths["/api/v1/leads"]?.get.responses ?? {};
    const examples = Object.values(responses).flatMap(({ content }) =>
      Object.entries(content["application/json"].examples ?? {}),
    );
    expect(examples.filter(([name]) => name === code).map(([, { value }]) => value)).toEqual([body]);
  });
});

/** Has a server answer with a code. */
async function provoke(code: string): Promise<{ url: string; body: never }> {
  const fail = (error: Error) => () => {
    throw error;
  };
  const broken = (error: Error) => (real: RequestStore) => ({ ...real, leads: { page: fail(error) } });
  const stores: Record<string, (real: RequestStore) => RequestStore> = {
    query_failed: broken(new DatabaseUnavailable("The file is gone.", "")),
    internal_error: broken(new TypeError("a mistake of ours")),
  };
  const store = stores[code];
  const server = await serve({ limit: 60, leads: [aLead()], ...(store === undefined ? {} : { store }) });
  const key = server.aKey();
  const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` });
  const requests: Record<string, Parameters<typeof server.send>[0]> = {
    missing_api_key: {},
    invalid_api_key: { headers: bearer("lf_nobodys") },
    revoked_api_key: { headers: bearer(server.aRevokedKey()) },
    subscription_required: { headers: bearer(server.aKey(server.anAccount({ active: false }))) },
    invalid_parameter: { target: "/api/v1/leads?limit=1000", headers: bearer(key) },
    invalid_cursor: { target: "/api/v1/leads?before=yesterday", headers: bearer(key) },
    unknown_pixel: { target: "/api/v1/leads?pixel_id=px_nobodys", headers: bearer(key) },
  };
  const request = requests[code] ?? { headers: bearer(key) };
  if (code === "rate_limit_exceeded") for (let n = 0; n < 60; n++) await server.send(request);
  return { url: server.url, body: JSON.parse((await server.send(request)).body) as never }; // Compared as it is.
}
