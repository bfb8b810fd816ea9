/** Checks responses against the served OpenAPI document. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats, { type FormatsPlugin } from "ajv-formats";
import { paths } from "../../src/contract/paths.ts";
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
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Named<{ readonly get: Operation }>;
  readonly components: {
    readonly headers: Named<Header>;
    readonly schemas: Named<object>;
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** Null where the method has none. */
  readonly text: string | null;
}

/** A response of the document, and the JSON pointer to it. */
interface Located {
  readonly response: DescribedResponse;
  readonly pointer: string;
}

/** The description that a running server gives, and checks made of it. */
export async function describedBy(url: string): Promise<Description> {
  return new Description((await (await fetch(`${url}/openapi.json`)).json()) as Document); // The tests check it.
}

class Description {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(readonly document: Document) {
    addFormats(this.ajv);
    // ajv accepts a space for the T, and leap seconds. The API does not.
    this.ajv.addFormat("date-time", (text) => parseTime(text, "up") !== null);
    this.ajv.addSchema(document, "description");
  }

  /** Returns the differences between a response and the document; none if it matches. */
  differences(method: string, path: string, { status, headers, text }: Answered): string[] {
    const described = this.locate(method, path, status);
    if (described === null) return [`${status} is not described`];
    const found = this.headerDifferences(described.response, headers);
    if (!headers.get("content-type")?.startsWith("application/json")) found.push("the body is not called JSON");
    return text === null ? found : [...found, ...this.bodyDifferences(described, JSON.parse(text))];
  }

  /** Returns true if the document accepts a text as the value of a parameter. */
  admits(path: string, name: string, text: string): boolean {
    const parameters = this.document.paths[path]?.get.parameters ?? [];
    const position = parameters.findIndex((parameter) => parameter.name === name);
    const parameter = parameters[position];
    if (parameter === undefined) return false;
    const isRight = this.validatorAt(`/paths/${escaped(path)}/get/parameters/${position}/schema`);
    return isRight(valueFrom(parameter.schema.type, text)) === true;
  }

  private headerDifferences({ headers: described }: DescribedResponse, headers: Headers): string[] {
    return Object.entries(described).flatMap(([name, { $ref }]) => {
      const value = headers.get(name);
      if (value === null) return [`the header ${name} is missing`];
      const isRight = this.validatorAt(`${$ref.slice(1)}/schema`);
      const type = this.document.components.headers[name]?.schema.type;
      return isRight(type === "integer" ? wholeNumber(value) : value) ? [] : [`the header ${name} is ${value}`];
    });
  }

  private bodyDifferences({ response, pointer }: Located, body: Partial<Example["value"]>): string[] {
    const isRight = this.validatorAt(`${pointer}/content/application~1json/schema`);
    const found = isRight(body) ? [] : [`the body is not as described: ${this.ajv.errorsText(isRight.errors)}`];
    const examples = Object.keys(response.content["application/json"].examples ?? {});
    const code = body.error?.code;
    return code === undefined || examples.includes(code) ? found : [...found, `the code ${code} has no example`];
  }

  /** Finds the response to a request; null if it is not described. Those to unknown paths and methods belong to no operation. */
  private locate(method: string, path: string, status: number): Located | null {
    const operation = this.document.paths[path]?.get;
    const isForAll = status === 308 || status === 429 || status === 500;
    if (isForAll || (operation !== undefined && method === "GET")) {
      const response = operation?.responses[status];
      return response === undefined ? null : { response, pointer: `/paths/${escaped(path)}/get/responses/${status}` };
    }
    // Unknown paths and methods belong to no operation, and have the body and the headers of every other error.
    const [code, expected] = operation === undefined ? ["not_found", 404] : ["method_not_allowed", 405];
    const pointer = `/paths/${escaped(paths.leads)}/get/responses/400`;
    const error = this.document.paths[paths.leads]?.get.responses[400];
    if (status !== expected || error === undefined) return null;
    const example = { value: {} as Example["value"] };
    const content = { "application/json": { ...error.content["application/json"], examples: { [code]: example } } };
    return { response: { ...error, content }, pointer };
  }

  private validatorAt(pointer: string): ValidateFunction {
    return this.validators.getOrInsertComputed(pointer, () => this.ajv.compile({ $ref: `description#${pointer}` }));
  }
}

/** A path as a step of a JSON pointer. */
function escaped(path: string): string {
  return path.replaceAll("/", "~1");
}

/** The value of a text in a query. A text that is no value of the type stays a text, which no number admits. */
function valueFrom(type: string, text: string): unknown {
  if (type === "integer") return wholeNumber(text);
  return type === "boolean" && (text === "true" || text === "false") ? text === "true" : text;
}

function wholeNumber(text: string): number | string {
  return /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : text;
}
