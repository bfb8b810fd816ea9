/** Writes src/contract.ts of the client: the shapes of the API as plain types, from the contract of the server. */
import { join } from "node:path";
import type { TObject, TSchema } from "@sinclair/typebox";
import { Lead, LeadList } from "../../../src/contract/lead.ts";
import { LeadParameters } from "../../../src/contract/parameters.ts";
import { Pixel, PixelList } from "../../../src/contract/pixel.ts";
import { Usage } from "../../../src/contract/usage.ts";

export const contractFile = join(import.meta.dir, "../../../packages/client/src/contract.ts");

/** Returns the text of src/contract.ts. */
export function contractText(): string {
  const query = Object.entries<TSchema>(LeadParameters.properties).map(([name, schema]) => {
    const type = schema["format"] === "date-time" ? "string | Date" : typeOf(schema);
    return field(schema, `${name}?: ${type} | undefined;`);
  });
  return [
    "/** The shapes of the API (§2). Generated: bun test/packages/client/generate.ts writes it from the server's contract. */",
    shape("One identified visit of a website.", Lead),
    shape("A page of leads, newest first.", LeadList),
    shape("A source of visits.", Pixel),
    shape("All pixels of the account.", PixelList),
    shape("The requests of the presented key; days and months are in UTC.", Usage),
    `/** The parameters of a page of leads (§4.1). */\nexport interface LeadQuery {\n${query.join("\n")}\n}`,
  ]
    .join("\n\n")
    .concat("\n");
}

function shape(description: string, schema: TObject): string {
  const fields = Object.entries(schema.properties).map(([name, property]) =>
    field(property, `${name}: ${typeOf(property)};`),
  );
  return `/** ${description} */\nexport interface ${schema.$id} {\n${fields.join("\n")}\n}`;
}

function field({ description }: TSchema, declaration: string): string {
  return description === undefined ? `  ${declaration}` : `  /** ${description} */\n  ${declaration}`;
}

function typeOf(schema: TSchema): string {
  if (schema["anyOf"] !== undefined)
    return (schema["anyOf"] as TSchema[]).map(typeOf).join(" | ").replace("true | false", "boolean");
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  if (schema["type"] === "array") return `${(schema["items"] as TSchema).$id}[]`;
  return schema["type"] === "integer" ? "number" : String(schema["type"]);
}

if (import.meta.main) await Bun.write(contractFile, contractText());
