/** Rejected rows, written so that the file can be corrected and imported as it is. */
import { accessSync, closeSync, constants, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import { csvRecord } from "../../contract/csv.ts";
import { codeOf, isFull } from "../../db/failure.ts";
import { UserError } from "../../runtime/user-error.ts";
import { isRejectColumn, rejectColumns } from "../map/column.ts";
import { ImportInterrupted } from "../new-lead.ts";
import type { RejectedRow } from "../row.ts";
import type { Format } from "./format.ts";

/**
 * Returns the path at which rejected rows can be written: `rejects.csv`, or `rejects-2.csv` and so on, because no file is
 * overwritten unless it may be replaced. Throws a UserError before anything is read; touches nothing.
 */
export function writablePath(wanted: string, mayReplace: boolean): string {
  const { dir, name, ext } = parse(wanted);
  const entryAt = (path: string) => statSync(path, { throwIfNoEntry: false });
  return naming(wanted, () => {
    let path = wanted;
    // A device is written to.
    for (let number = 2; !mayReplace && entryAt(path)?.isFile() === true; number++) {
      path = join(dir, `${name}-${number}${ext}`);
    }
    const found = entryAt(path);
    if (found?.isDirectory()) throw new UserError(`--rejects names ${path}, which is a folder.`, "Name a file in it.");
    accessSync(found === undefined ? dirname(path) : path, constants.W_OK);
    return path;
  });
}

/**
 * Writes all rows that were rejected to a new file; creates none without such a row. Throws a UserError that names it if
 * that fails. If it is unattended, the new file replaces another one, which may be a link.
 */
export function writeRejects(
  path: string,
  rows: Iterable<RejectedRow>,
  format: Format,
  columnNames: readonly string[],
  unattended = false,
): void {
  naming(path, () => {
    if (unattended) rmSync(path, { force: true });
    const isDevice = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
    const texts = format.kind === "csv" ? csvTexts(rows, format.delimiter, columnNames) : ndjsonTexts(rows);
    let file: number | null = null;
    try {
      for (const text of texts) {
        // Opened for the first row: without a rejected row there is no file.
        file ??= openSync(path, isDevice && !unattended ? "w" : "wx", 0o600);
        writeFileSync(file, text);
      }
    } finally {
      if (file !== null) closeSync(file);
    }
  });
}

/** Turns an error of the file system into a UserError that names the rejects file. */
function naming<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    const code = codeOf(cause) || "unknown";
    throw new ImportInterrupted(
      `The rejects file ${path} cannot be written (${code}); nothing was imported.`,
      isFull(cause)
        ? "Free some space on its disk, or pass another file to --rejects."
        : "Check that the folder of --rejects exists, and that this user can write to it.",
      cause,
    );
  }
}

function* ndjsonTexts(rows: Iterable<RejectedRow>): Generator<string> {
  const [lineName, reasonName] = rejectColumns;
  for (const { line, reason, source } of rows) {
    yield `${JSON.stringify({ [lineName]: line, [reasonName]: reason, row: source })}\n`;
  }
}

/** Returns the cells after the columns of the header until the row is corrected: surplus cells, or a hint that some are missing. */
function surplusCells(source: RejectedRow["source"], width: number): readonly string[] {
  if (source.length < width) return ["fill in what is missing and delete this cell"];
  return [...source.slice(width)];
}

/** Yields the same header with two more columns. Surplus cells of a row follow them, and are rejected again. */
function* csvTexts(rows: Iterable<RejectedRow>, delimiter: string, names: readonly string[]): Generator<string> {
  const write = (cells: readonly string[]) => csvRecord(cells, delimiter);
  const kept = names.flatMap((name, position) => (isRejectColumn(name) ? [] : [position]));
  let isBegun = false;
  for (const { line, reason, source } of rows) {
    if (!isBegun) yield write([...kept.map((position) => names[position] ?? ""), ...rejectColumns]);
    isBegun = true;
    const cells = kept.map((position) => source[position] ?? "");
    yield write([...cells, String(line), reason, ...surplusCells(source, names.length)]);
  }
}
