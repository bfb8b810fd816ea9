/** A list of persons: one on each line, or one in each cell of a CSV file. How a text looks says what it is. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parse } from "csv-parse/sync";
import { emailKey, phoneKey } from "../../contract/person.ts";
import { uuid } from "../../import/map/identity.ts";
import { firstEmail } from "../../import/map/values/emails.ts";
import { firstPhone } from "../../import/map/values/phones.ts";
import type { PersonReference } from "../../privacy/identifiers.ts";
import { UserError } from "../../user-error.ts";

/** A person and the line that names them. */
export interface ListedPerson {
  readonly line: number;
  readonly reference: PersonReference;
}

const columnName =
  /^(?:e-?mail|phone|lead|id|person|sha-?256|hash|digest)(?:[ _-]?(?:address|number|id|sha-?256|hash))*$/i;

const writtenPhone = /^\+?[\d\s()./-]+(?:(?:x|ext\.?)\s*\d+)?$/i;

/** The persons of a list; throws a UserError that gives the number of the first wrong line, and never its text. */
export function readList(name: string, text: string): ListedPerson[] {
  const rows = readRows(name, text);
  const isHeader = rows[0]?.cells.every((cell) => columnName.test(cell)) === true;
  const listed = rows.slice(isHeader ? 1 : 0).flatMap(({ line, cells }) =>
    cells.map((cell): ListedPerson => {
      const reference = readReference(cell);
      if (reference !== null) return { line, reference };
      throw new UserError(
        `Line ${line} of ${labelOf(name)} names nobody; nothing was done.`,
        "A line takes an email address, a phone, the ID that a lead has here (--id takes a vendor's), or the SHA-256 of an address or a phone; of a table, keep those columns alone. Correct it, and run this again.",
      );
    }),
  );
  if (listed.length > 0) return listed;
  throw new UserError(`${labelOf(name)} names nobody.`, "Give a line for each person.");
}

/** The text of a list; throws a UserError where it cannot be read. */
export function readListFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new UserError(
      `${path} cannot be read.`,
      "Give --list a file with a line for each person, or - for standard input.",
    );
  }
}

function labelOf(name: string): string {
  return name === "-" ? "standard input" : basename(name);
}

interface ListRow {
  readonly line: number;
  readonly cells: readonly string[];
}

function readRows(name: string, text: string): ListRow[] {
  // Most lists are plain lines, and a parser of tables takes ten times the memory.
  if (!/[",;\t]/.test(text)) return readLines(text);
  const rows: ListRow[] = [];
  try {
    parse(text, {
      bom: true,
      delimiter: [",", ";", "\t"],
      on_record(record: readonly string[], { lines }) {
        rows.push({ line: lines, cells: record.filter((cell) => cell !== "") });
        return null;
      },
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      trim: true,
    });
  } catch {
    throw new UserError(`${labelOf(name)} is no list: a quotation mark is not closed.`, "Give a line for each person.");
  }
  return rows;
}

function readLines(text: string): ListRow[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  return lines.map((line, place) => ({ line: place + 1, cells: [line.trim()] })).filter(({ cells }) => cells[0] !== "");
}

/** What a text looks like: an email address, a digest, the id of a lead or a phone; null where it is none of these. */
function readReference(text: string): PersonReference | null {
  if (text.includes("@")) {
    // Of two in one place the second would be passed over, and nobody would know.
    const email = text.split("@").length > 2 ? null : firstEmail([text]);
    return email && { kind: "email", value: emailKey(email.value) };
  }
  if (/^[0-9a-f]{64}$/i.test(text)) return { kind: "digest", value: text.toLowerCase() };
  if (/^[\w+/-]{43}=?$/.test(text)) return { kind: "digest", value: Buffer.from(text, "base64").toString("hex") };
  if (uuid.test(text)) return { kind: "id", value: text.toLowerCase() };
  const phone = writtenPhone.test(text) ? firstPhone([text])?.value : undefined;
  return phone !== undefined && phone.length >= 7 ? { kind: "phone", value: phoneKey(phone) } : null;
}
