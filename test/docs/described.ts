/** Checks responses against the served OpenAPI document. */
import { Ajv2020 } from "ajv/dist/2020.js";
import formats, { type FormatsPlugin } from "ajv-formats";
import { parseTime } from "../../src/contract/time.ts";

// A CommonJS module whose types promise one default more than there is.
const addFormats = formats as unknown as FormatsPlugin;

interface Named<Value> {
  readonly [name: string]: Value;
}

interface Reference {
  readonly $ref: string;
}

interface Header {
  readonly required: boolean;
  readonly schema: { readonly type: string };
}

interface DescribedResponse {
  readonly headers: Named<Reference>;
  readonly content: { readonly "application/json": { readonly schema: object; readonly examples?: Named<Example> } };
}

export interface Example {
  readonly value: { readonly error: { readonly code: string; readonly message: string; readonly docs: string } };
}

interface DescribedParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: { readonly type: string };
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly DescribedParameter[];
  readonly responses: Named<DescribedResponse>;
}

interface Document {
  readonly openapi: string;
  readonly paths: Named<{ readonly get: Operation }>;
  readonly components: {
    readonly headers: Named<Header>;
    readonly responses: Named<DescribedResponse>;
    readonly schemas: Named<object>;
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** Null where the method has none. */
  readonly text: string | null;
}

/** The description that a running server gives, and checks made of it. */
export async function describedBy(url: string): Promise<ReturnType<typeof readDescription>> {
  return readDescription((await (await fetch(`${url}/openapi.json`)).json()) as Document); // The tests check it.
}

function readDescription(document: Document) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  // ajv accepts a space for the T, and leap seconds. The API does not.
  ajv.addFormat("date-time", (text) => parseTime(text, "up") !== null);
  ajv.addSchema(document, "description");
  const validators = new Map<string, ReturnType<typeof ajv.compile>>();
  const validatorAt = (pointer: string) => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `description#${pointer}` });
    validators.set(pointer, known);
    return known;
  };

  /** The JSON pointer of the response to a request; null if there is none. */
  function pointerOf(method: string, path: string, status: number): string | null {
    const shared = sharedPointer(method, document.paths[path] !== undefined, status);
    if (shared !== undefined) return shared;
    if (document.paths[path]?.get.responses[status] === undefined) return null;
    return `/paths/${path.replaceAll("/", "~1")}/get/responses/${status}`;
  }

  function responseAt(pointer: string): DescribedResponse {
    const steps = pointer.slice(1).split("/");
    return steps.reduce<Named<unknown>>(
      (at, step) => at[step.replaceAll("~1", "/")] as Named<unknown>,
      document as unknown as Named<unknown>,
    ) as unknown as DescribedResponse; // A pointer of pointerOf leads to one.
  }

  /** The differences between a response and the document; empty if it matches. */
  function differences(method: string, path: string, { status, headers, text }: Answered): string[] {
    const pointer = pointerOf(method, path, status);
    if (pointer === null) return [`${status} is not described`];
    const response = responseAt(pointer);
    const found = Object.entries(response.headers).flatMap(([name, { $ref }]) => {
      const value = headers.get(name);
      if (value === null) return [`the header ${name} is missing`];
      const isRight = validatorAt(`${$ref.slice(1)}/schema`);
      const type = document.components.headers[name]?.schema.type;
      return isRight(type === "integer" ? wholeNumber(value) : value) ? [] : [`the header ${name} is ${value}`];
    });
    if (!headers.get("content-type")?.startsWith("application/json")) found.push("the body is not called JSON");
    if (text === null) return found;
    const body: unknown = JSON.parse(text);
    const isRight = validatorAt(`${pointer}/content/application~1json/schema`);
    if (!isRight(body)) found.push(`the body is not as described: ${ajv.errorsText(isRight.errors)}`);
    const examples = Object.keys(response.content["application/json"].examples ?? {});
    const code = (body as Partial<Example["value"]>).error?.code;
    if (code !== undefined && !examples.includes(code)) found.push(`the code ${code} has no example`);
    return found;
  }

  /** Returns true if the document accepts a text as the value of a parameter. */
  function admits(path: string, name: string, text: string): boolean {
    const position = document.paths[path]?.get.parameters?.findIndex((parameter) => parameter.name === name) ?? -1;
    const parameter = document.paths[path]?.get.parameters?.[position];
    if (parameter === undefined) return false;
    const isRight = validatorAt(`/paths/${path.replaceAll("/", "~1")}/get/parameters/${position}/schema`);
    return isRight(valueFrom(parameter.schema.type, text)) === true;
  }

  return { document, differences, admits };
}

/** The pointer of the response to an unknown path or method; undefined for an operation. */
function sharedPointer(method: string, isOperation: boolean, status: number): string | null | undefined {
  if (status === 500 || status === 429 || status === 308) return undefined;
  if (!isOperation) return status === 404 ? "/components/responses/NotFound" : null;
  if (method !== "GET") return status === 405 ? "/components/responses/MethodNotAllowed" : null;
  return undefined;
}

/** The value of a text in a query. A text that is no value of the type stays a text, which no number admits. */
function valueFrom(type: string, text: string): unknown {
  if (type === "integer") return wholeNumber(text);
  return type === "boolean" && (text === "true" || text === "false") ? text === "true" : text;
}

function wholeNumber(text: string): number | string {
  return /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : text;
}
