/** A JSON document over several lines, or of one long line: a page of an API or an array, which is read whole. */
import { UserError } from "../../../user-error.ts";
import type { Columns } from "../../map/columns/columns.ts";
import type { Row } from "../../row.ts";
import { recordsFilter } from "../jq.ts";
import { countOf, excessIn, isNestedTooDeep } from "./bounds.ts";
import { inGroups } from "./groups.ts";
import { largestPage, parseJson, readNdjson, rowsOf } from "./ndjson.ts";

/** Reads the rows of a document. Throws a UserError, with what makes lines of it, for one that cannot be read whole. */
export async function readDocument(chunks: AsyncGenerator<Buffer>, columns: Columns): Promise<AsyncGenerator<Row[]>> {
  const held: Buffer[] = [];
  let size = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    held.push(next.value);
    size += next.value.length;
    if (size > largestPage) return readLines(held, chunks, columns, tooLarge(textOf(held), mebibytes));
  }
  const text = textOf(held);
  const excess = excessIn(text);
  if (excess !== null) return readLines(held, chunks, columns, tooLarge(text, excess));
  if (isNestedTooDeep(text)) return readLines(held, chunks, columns, tooDeep());
  const value = parseJson(text);
  if (value === undefined) return readLines(held, chunks, columns, damaged());
  const line = countOf("\n", text.slice(0, text.search(/\S/))) + 1;
  // The bytes and the text of a page are freed while its records are read.
  return readToEnd(rowsOf(value, line, columns, () => JSON.stringify(value)));
}

/** A damaged first line does not make a document of a file whose second line is a record. */
function readLines(
  held: readonly Buffer[],
  rest: AsyncGenerator<Buffer>,
  columns: Columns,
  refusal: UserError,
): AsyncGenerator<Row[]> {
  const [, second = ""] = textOf(held.slice(0, 8)).trimStart().split("\n", 2);
  if (parseJson(second) === undefined) throw refusal;
  return readNdjson(inPieces(held, rest), columns);
}

function textOf(held: readonly Buffer[]): string {
  return Buffer.concat(held).toString("utf8");
}

const mebibytes = `${largestPage / 1024 / 1024} MiB`;

function tooLarge(text: string, most: string): UserError {
  return new UserError(
    `This is one JSON document of more than ${most}, not one object a line.`,
    `Convert it: jq -c '${recordsFilter(placeOfRecords(text.slice(0, 65_536)))}' FILE > leads.ndjson`,
  );
}

function tooDeep(): UserError {
  return new UserError(
    "This JSON is nested more than a thousand levels deep.",
    "No export is; check where it comes from.",
  );
}

function damaged(): UserError {
  return new UserError(
    "This is neither one JSON document nor one object a line.",
    "Convert it: jq -c . FILE > leads.ndjson (which also says where it is damaged or cut off).",
  );
}

async function* readToEnd(rows: Iterable<Row>): AsyncGenerator<Row[]> {
  yield* inGroups([rows]);
  // Left to itself the engine keeps the page while the leads are written.
  Bun.gc(true);
}

async function* inPieces(held: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* held;
  yield* rest;
}

/** A list or an object that has begun. */
interface Begun {
  readonly name: string;
  readonly isList: boolean;
  /** How many objects lie in it. */
  objects: number;
}

/** The names around the list of objects in which a beginning ends; without one, around the object with most objects. */
function placeOfRecords(beginning: string): string[] {
  const begun = unfinished(beginning);
  const list = begun.findIndex(({ isList, objects }) => isList && objects > 0);
  const most = Math.max(...begun.map(({ objects }) => objects));
  const place = list === -1 ? begun.findIndex(({ objects }) => objects === most) : list;
  // The document itself has no name.
  return begun.slice(1, place + 1).map(({ name }) => name);
}

/** The lists and objects in which a text ends, the outermost first. */
function unfinished(text: string): Begun[] {
  const begun: Begun[] = [];
  let name = "";
  let before = "";
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*(?:"|$)|[{}[\]:]/g)) {
    if (token === "{" || token === "[") {
      const around = begun.at(-1);
      if (around !== undefined && token === "{") around.objects++;
      begun.push({ name, isList: token === "[", objects: 0 });
    }
    if (token === "}" || token === "]") begun.pop();
    if (token === ":" && before.startsWith('"')) name = String(parseJson(before));
    before = token;
  }
  return begun;
}
