/** Reads the body of a delivery: a JSON object, an array, or NDJSON, compressed or not, becomes one line for each visit. */
import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { codeOf } from "../../../src/db/failure.ts";
import { DeliveryRefused } from "./refusal.ts";

/** The bound for a body as it is sent, and again when it is decompressed. */
export const maxBodyBytes = 1_000_000;

const jsonTypes = /^(?:text\/plain|text\/json|application\/(?:[\w.+-]*json[\w.+-]*|gzip|x-gzip|octet-stream))$/;
const takes = "a JSON object, an array of objects, or one object per line";

/** Refuses a media type that is not JSON, such as a form. */
export function checkType(contentType: string | null): void {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "" || jsonTypes.test(type)) return;
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

/** Returns one line of JSON for each visit. Throws a DeliveryRefused that names the first line that is no visit. */
export function readVisits(bytes: Uint8Array, contentEncoding: string | null): string[] {
  const encoded = decompress(bytes, contentEncoding);
  if (!isUtf8(encoded)) throw new DeliveryRefused("invalid_body", "The body is not UTF-8.");
  const text = new TextDecoder().decode(encoded).trim();
  if (text === "") throw new DeliveryRefused("invalid_body", `The body is empty; it takes ${takes}.`);
  const whole = parse(text);
  if (Array.isArray(whole)) return whole.map((item, place) => writeVisit(item, `Element ${place + 1} of the array`));
  if (whole !== undefined) return [writeVisit(whole, "The body")];
  const lines = text.split("\n").map((line, place) => ({ line: line.trim(), number: place + 1 }));
  return lines.filter(({ line }) => line !== "").map(({ line, number }) => writeVisit(parse(line), `Line ${number}`));
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

/** Returns the value of a JSON text, its numbers with every digit that was sent; undefined if the text is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text, keepDigits);
  } catch {
    return undefined;
  }
}

function keepDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" && context?.source !== undefined ? JSON.rawJSON(context.source) : value;
}

function writeVisit(value: unknown, what: string): string {
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)) {
    return JSON.stringify(value);
  }
  throw new DeliveryRefused("invalid_body", `${what} is not a JSON object; a delivery takes ${takes}.`);
}
