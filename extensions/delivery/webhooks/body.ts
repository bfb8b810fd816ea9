/** Reads the body of a delivery: JSON, one object per line, or a form, compressed or not, becomes a list of visits as JSON. */
import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { codeOf } from "../../../src/db/failure.ts";
import { DeliveryRefused } from "./refusal.ts";

/** The bound for a body as it is sent, and again when it is decompressed. */
export const maxBodyBytes = 1_000_000;

/** The visits of a delivery. */
export interface Visits {
  readonly count: number;
  /** A JSON array of objects on one line. Every number has the digits that were sent: nothing was parsed and written again. */
  readonly json: string;
}

const formType = "application/x-www-form-urlencoded";
const jsonTypes = /^(?:text\/plain|text\/json|application\/(?:[\w.+-]*json[\w.+-]*|gzip|x-gzip|octet-stream))$/;
const takes = "a JSON object, an array of objects, or one object per line";

/** Returns whether a media type is that of a form. Refuses one that is neither that nor JSON, such as a form in parts. */
export function isForm(contentType: string | null): boolean {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === formType) return true;
  if (type === "" || jsonTypes.test(type)) return false;
  // The log has this sentence, and a vendor could write anything there: a token, or an escape sequence of terminals.
  const named = type.length <= 60 && /^[a-z]+\/[a-z.+-]+$/.test(type) ? ` ${type}` : "";
  throw new DeliveryRefused("unsupported_type", `The Content-Type${named} is not supported; send application/json.`);
}

/** Reads a body, and refuses one that is too large. `reserve` is called with the bytes of each chunk. */
export async function readBody(request: Request, reserve: (bytes: number) => void): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBodyBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) throw tooLarge();
      reserve(chunk.length);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof DeliveryRefused) throw cause;
    // A client that closes the connection early is refused: that is no failure of the server.
    throw new DeliveryRefused("invalid_body", "The connection was closed before the body was complete.");
  }
  return Buffer.concat(chunks);
}

/** Returns the visits of a body. Throws a DeliveryRefused that names the first line or element that is no visit. */
export function readVisits(bytes: Uint8Array, contentEncoding: string | null, mayBeForm: boolean): Visits {
  const encoded = decompress(bytes, contentEncoding);
  if (!isUtf8(encoded)) throw new DeliveryRefused("invalid_body", "The body is not UTF-8.");
  const text = new TextDecoder().decode(encoded).trim();
  if (text === "") throw new DeliveryRefused("invalid_body", `The body is empty; it takes ${takes}.`);
  const whole = parse(text);
  if (Array.isArray(whole)) {
    for (const [index, item] of whole.entries()) refuseOther(item, `Element ${index + 1} of the array`);
    return { count: whole.length, json: inOneLine(text) };
  }
  // Programs such as curl send JSON under the type of a form.
  if (whole === undefined && mayBeForm) return { count: 1, json: `[${JSON.stringify(readForm(text))}]` };
  if (whole !== undefined) {
    refuseOther(whole, "The body");
    return { count: 1, json: `[${inOneLine(text)}]` };
  }
  const lines = text.split("\n").map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const visits = lines.filter(({ line }) => line !== "");
  for (const { line, number } of visits) refuseOther(parse(line), `Line ${number}`);
  return { count: visits.length, json: `[${visits.map(({ line }) => inOneLine(line)).join()}]` };
}

/** Unpacks a body that begins like gzip, whatever its header says. Throws a DeliveryRefused if it cannot, or if it is too large. */
function decompress(bytes: Uint8Array, contentEncoding: string | null): Uint8Array {
  const encoding = contentEncoding?.trim().toLowerCase() ?? "";
  if (!["", "identity", "gzip", "x-gzip"].includes(encoding)) {
    throw new DeliveryRefused("unsupported_type", "The Content-Encoding is not supported; send gzip or none.");
  }
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBodyBytes });
  } catch (cause) {
    if (codeOf(cause) === "ERR_BUFFER_TOO_LARGE") throw tooLarge();
    throw new DeliveryRefused("invalid_body", "The gzip data of the body is damaged or truncated.");
  }
}

function tooLarge(): DeliveryRefused {
  return new DeliveryRefused("too_large", "The body is larger than 1 MB; send fewer visits at once.");
}

/** Returns the value of a JSON text; undefined if the text is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuseOther(value: unknown, what: string): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new DeliveryRefused("invalid_body", `${what} is not a JSON object; a delivery takes ${takes}.`);
}

/** In JSON, line ends are blanks between values: within a text they are escaped. */
function inOneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, " ");
}

/** Names in brackets, as PHP and many vendors write them: contact[email]. */
const nested = /^([^[\]]+)((?:\[[^[\]]*\])+)$/;
/** No form has objects within objects to a greater depth. */
const maxFormDepth = 8;

interface Form {
  [name: string]: string | string[] | Form;
}

/** Returns a form as an object. A name that occurs again has a list of values, and so has one that ends in []. */
function readForm(text: string): Form {
  const form = newForm();
  for (const [name, value] of new URLSearchParams(text)) {
    const [, first = name, brackets = ""] = nested.exec(name) ?? [];
    const others = brackets.split(/[[\]]+/).filter((part) => part !== "");
    const path = others.length < maxFormDepth ? [first, ...others] : [name];
    addValue(form, path, value);
  }
  return form;
}

/** Has no prototype: a form may have any name. */
const newForm = (): Form => Object.create(null);

function addValue(form: Form, path: readonly string[], value: string): void {
  const [name = "", ...below] = path;
  const there = form[name];
  if (below.length > 0) {
    const inner = typeof there === "object" && !Array.isArray(there) ? there : newForm();
    form[name] = inner;
    addValue(inner, below, value);
  } else if (Array.isArray(there)) there.push(value);
  else form[name] = typeof there === "string" ? [there, value] : value;
}
