/** The schemas of the contract as plain JSON Schema, the way descriptions of APIs write it. */
import { type TSchema, Type } from "@sinclair/typebox";
import { ErrorBody } from "../../contract/errors.ts";
import { Lead } from "../../contract/lead.ts";
import { LeadList, PixelList } from "../../contract/list.ts";
import { Pixel } from "../../contract/pixel.ts";
import { Usage } from "../../contract/usage.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The body of a 308 (§1). */
const Redirect = Type.Object(
  {
    object: Type.Literal("redirect"),
    url: Type.String({ format: "uri", description: "The address to send the request to." }),
  },
  { $id: "Redirect", additionalProperties: false },
);

/** The named schemas, each a component of the description. */
export function sharedSchemas(): Json {
  const all = [Lead, LeadList, Pixel, PixelList, Usage, ErrorBody, Redirect];
  return Object.fromEntries(all.map((schema) => [nameOf(schema), toJson(schema)]));
}

/** The name of a component; throws for a schema without one. */
export function nameOf(schema: TSchema): string {
  if (schema.$id === undefined) throw new Error("a component of the description needs a name");
  return schema.$id;
}

/** A schema as plain JSON, in which the named schemas inside it are references. */
export function toJson(schema: TSchema): { readonly [name: string]: Json } {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      if (key === "$id") return undefined;
      const named = key !== "" && typeof value === "object" && value !== null && typeof value.$id === "string";
      return named ? { $ref: `#/components/schemas/${value.$id}` } : plain(value);
    }),
  );
}

/** A union with null, or of constants, as generators of clients know it best: with a list of types, or with `enum`. */
function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("anyOf" in value) || !Array.isArray(value.anyOf)) return value;
  const { anyOf, ...rest } = value;
  if (anyOf.every((one: TSchema) => typeof one["const"] === "string")) {
    return { ...rest, type: "string", enum: anyOf.map((one: TSchema) => one["const"]) };
  }
  const [first, second, ...others] = anyOf;
  if (second?.type !== "null" || typeof first.type !== "string" || others.length > 0) return value;
  return { ...first, ...rest, type: [first.type, "null"] };
}
