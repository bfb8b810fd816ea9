/** One query parameter: a TypeBox schema that decides what is accepted, converts it, and stands in the description. */
import type { StaticDecode, TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";

export interface Parameter<Value> {
  readonly schema: TSchema;
  /** Completes the sentence "it takes …" of a refusal. */
  readonly accepts: string;
  /** The value that a decoded text stands for, or null where the schema does not accept it. */
  read(text: string): Value | null;
}

/** Makes a parameter of its schema, which is compiled once. */
export function defineParameter<Schema extends TSchema>(
  schema: Schema,
  accepts: string,
): Parameter<StaticDecode<Schema>> {
  const compiled = TypeCompiler.Compile(schema);
  return {
    schema,
    accepts,
    read(text) {
      const value = meaningOf(text, schema);
      return compiled.Check(value) ? compiled.Decode(value) : null;
    },
  };
}

/** What a text in a query stands for, by the type of its schema: OpenAPI's form style. A text of no such value stays one. */
function meaningOf(text: string, schema: TSchema): unknown {
  // "05", "5.0" and "0x5" are other ways to write a number; only the canonical one is taken.
  if (schema["type"] === "integer") return String(Number(text)) === text ? Number(text) : text;
  if (schema["type"] === "boolean") return text === "true" || (text === "false" ? false : text);
  // The + of an offset that was not encoded has become a space on its way.
  return schema["format"] === "date-time" ? text.replace(/ (\d{2}:\d{2})$/, "+$1") : text;
}
