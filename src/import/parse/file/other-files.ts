/** Files that people take for an export, known by their first bytes. */
import { adminCommand } from "../../../program-name.ts";
import { UserError } from "../../../user-error.ts";

/** Whether a beginning is long enough to tell. */
export function isTelling(head: Buffer): boolean {
  return head.length >= 4;
}

const otherFiles: readonly (readonly [head: string, what: string, advice: string])[] = [
  ["504b", "a zip archive or a spreadsheet", "Unpack it, or save the sheet as CSV."],
  ["425a68", "packed with bzip2", `Unpack it: bzcat FILE | ${adminCommand} lead import ACCOUNT -`],
  ["28b52ffd", "packed with zstd", `Unpack it: zstdcat FILE | ${adminCommand} lead import ACCOUNT -`],
  ["fd377a58", "packed with xz", `Unpack it: xzcat FILE | ${adminCommand} lead import ACCOUNT -`],
  ["53514c69", "an SQLite database", "Export its table as CSV."],
  ["d0cf11e0", "an Excel workbook", "Save the sheet as CSV."],
  ["3c", "a web page or XML", "Fetch the export itself, or open the file in a spreadsheet and save it as CSV."],
  ["25504446", "a PDF", "Export the table as CSV."],
];

/** Throws a UserError for a file that is known to be something else. */
export function refuseOther(head: Buffer, file: string): void {
  const start = head.toString("hex", 0, 4);
  const other = otherFiles.find(([bytes]) => start.startsWith(bytes));
  if (other !== undefined) throw new UserError(`${file} is ${other[1]}, not CSV or NDJSON.`, other[2]);
}
