/** The description at /openapi.json: what @elysiajs/swagger derives from the routes, completed to valid OpenAPI 3.1. */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { type ErrorCode, errorBody, errorCodes, errors } from "../../contract/errors.ts";
import { namesOf } from "../../contract/names.ts";
import { accepts } from "../../contract/parameters.ts";
import { publicPaths } from "../../contract/paths.ts";
import { type Call, calls } from "../call.ts";
import { bodyExamples, exampleMessage, type Json } from "./openapi-examples.ts";
import { headersOf, preamble, sharedHeaders } from "./openapi-preamble.ts";

/** Makes the route of the description. `send` answers with its text. */
export function describeApi(baseUrl: string, limitPerMin: number, send: (call: Call, body: string) => Response) {
  let description: string | null = null;
  return (
    new Elysia()
      .use(calls)
      .onAfterHandle(({ call, response }) => {
        if (response instanceof Response) return response;
        description ??= JSON.stringify(complete(response as Derived, baseUrl, limitPerMin)); // The plugin's own answer.
        return send(call, description);
      })
      // The plugin's page loads from another host. Our explorer takes its path: the last route of a path wins.
      .use(
        swagger({
          path: publicPaths.explorer,
          specPath: publicPaths.openapi,
          documentation: preamble(baseUrl),
        }),
      )
  );
}

type JsonObject = { [name: string]: Json };

interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly examples: Json;
  readonly schema: JsonObject;
}

/** The part that is completed of what the plugin derives. */
interface Derived extends JsonObject {
  readonly paths: { readonly [path: string]: { readonly get: Operation } };
  readonly components: JsonObject;
}

interface Operation extends JsonObject {
  readonly parameters: readonly Parameter[] & Json;
  readonly responses: { readonly [status: string]: Response31 };
}

interface Response31 extends JsonObject {
  readonly $id: string;
  readonly content: { readonly "application/json": { readonly schema: JsonObject } };
}

function complete(derived: Derived, baseUrl: string, limitPerMin: number): Json {
  const schemas: JsonObject = {};

  /** An error's response: each of its codes with its condition and an example. */
  function failure(codes: readonly ErrorCode[], status: number, schema: Json): JsonObject {
    const example = (code: ErrorCode) => ({
      summary: errors[code].condition,
      value: errorBody(code, exampleMessage(code, limitPerMin), baseUrl),
    });
    return {
      description: codes.map((code) => `\`${code}\`: ${errors[code].condition}`).join("\n\n"),
      headers: headersOf(status),
      content: {
        "application/json": { schema, examples: Object.fromEntries(codes.map((code) => [code, example(code)])) },
      },
    };
  }

  function response(status: number, { $id, content }: Response31): JsonObject {
    const schema = refer({ $id, ...content["application/json"].schema }, schemas);
    const codes = errorCodes.filter((code) => errors[code].status === status && code !== "not_found");
    if (codes.length > 0) return failure(codes, status, schema);
    const { description, examples } = bodyExamples[$id] ?? {};
    return { description, headers: headersOf(status), content: { "application/json": { schema, examples } } };
  }

  const paths = mapValues(derived.paths, ({ get }) => ({
    get: {
      ...get,
      parameters: get.parameters.length === 0 ? undefined : get.parameters.map(completeParameter),
      responses: mapValues(get.responses, (of, status) => response(Number(status), of)),
    },
  }));
  const error = { $ref: "#/components/schemas/ErrorResponse" };
  const responses = {
    NotFound: failure(["not_found"], 404, error),
    MethodNotAllowed: failure(["method_not_allowed"], 405, error),
  };
  const components = { ...derived.components, headers: sharedHeaders(limitPerMin), responses, schemas };
  return { ...derived, paths, components };
}

/** Parameters have their examples in the schema, and say which error an invalid value causes. */
function completeParameter({ name, description, examples, schema, ...rest }: Parameter): Json {
  const code = name === "before" ? "invalid_cursor" : name === "pixel_id" ? "unknown_pixel" : "invalid_parameter";
  const accepted = namesOf(accepts).find((known) => known === name);
  const takes = accepted === undefined ? "" : `Takes ${accepts[accepted]}. `;
  return {
    name,
    ...rest,
    description: `${description} ${takes}Anything else is ${errors[code].status} \`${code}\`.`,
    schema: { ...flatten(schema), examples },
  };
}

/** Replaces each named schema by a reference, and puts it into `schemas` under its name. */
function refer(schema: Json, schemas: JsonObject): Json {
  if (Array.isArray(schema)) return schema.map((item) => refer(item, schemas));
  if (typeof schema !== "object" || schema === null) return schema;
  const { $id, ...rest } = flatten(schema as JsonObject); // Array.isArray does not exclude a readonly array.
  const whole = mapValues(rest, (value) => refer(value, schemas));
  if (typeof $id !== "string") return whole;
  schemas[$id] = whole;
  return { $ref: `#/components/schemas/${$id}` };
}

/** Writes a union as generators of clients know it best: as a list of types, or with `enum`. */
function flatten({ anyOf, ...rest }: JsonObject): JsonObject {
  if (!Array.isArray(anyOf)) return anyOf === undefined ? rest : { ...rest, anyOf };
  const types = anyOf.map(({ type }) => type);
  if (types.every((type) => type === "boolean")) return { ...rest, type: "boolean" };
  if (types.includes("null")) return { ...anyOf[0], ...rest, type: types };
  return { ...rest, type: types[0], enum: anyOf.map((constant) => constant.const) };
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
