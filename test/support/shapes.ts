/** Every answer of the API, checked against the schemas of the contract. */
import type { TSchema } from "@sinclair/typebox";
import { Ajv, type ValidateFunction } from "ajv";
import formats, { type FormatsPlugin } from "ajv-formats";
import { ErrorResponse } from "../../src/contract/errors.ts";
import { type Lead, LeadList } from "../../src/contract/lead.ts";
import { paths } from "../../src/contract/paths.ts";
import { PixelList } from "../../src/contract/pixel.ts";
import { Usage } from "../../src/contract/usage.ts";

/** The possible fields of a body. The schema of its path says which ones it has. */
export interface Body {
  readonly object: string;
  readonly data: readonly Lead[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
  readonly requests_today: number;
  readonly requests_this_month: number;
  readonly rate_limit_per_min: number;
  readonly error: { readonly code: string; readonly message: string; readonly docs: string };
}

// A CommonJS module whose types promise one default more than there is.
const addFormats = formats as unknown as FormatsPlugin;

function compile(schema: TSchema): ValidateFunction {
  // test/docs/openapi.test.ts checks the schemas themselves, which takes much longer than to compile one.
  const ajv = new Ajv({ allErrors: true, validateSchema: false });
  addFormats(ajv);
  // Stricter than the description, in which clients must expect new fields, and other times and states.
  ajv.addFormat("date-time", /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  const strict = JSON.stringify(schema, (name, value) => {
    if (value?.type === "object") return { ...value, additionalProperties: false };
    const pattern = patterns[name];
    return pattern === undefined ? value : { anyOf: [{ type: "string", pattern }, { type: "null" }] };
  });
  return ajv.compile(JSON.parse(strict));
}

/** The form of a field that may be null. */
const patterns: Readonly<Record<string, string>> = { phone: "^[0-9]+$", state: "^[A-Z]{2}$" };

const isError = compile(ErrorResponse);
const isBodyOf: Readonly<Record<string, ValidateFunction>> = {
  [paths.leads]: compile(LeadList),
  [paths.pixels]: compile(PixelList),
  [paths.usage]: compile(Usage),
};

/** Reads a body of the API; throws when it is not of the shape that its path and status promise. */
export function readBody(path: string, status: number, text: string): Body {
  const body: unknown = JSON.parse(text);
  const isRight = status === 200 ? isBodyOf[path] : isError;
  if (isRight !== undefined && status !== 308 && !isRight(body)) {
    throw new Error(`${status} of ${path} has another shape: ${JSON.stringify(isRight.errors)}\n${text}`);
  }
  return body as Body; // The schema has just been checked.
}
