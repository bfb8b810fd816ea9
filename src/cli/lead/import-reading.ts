/** The first half of an import, as a person sees it: which column is what, and how far the reading is. */
import type { Columns } from "../../ingest/columns/columns.ts";
import { reportOn } from "../../ingest/columns/report.ts";
import { toUtf8 } from "../../ingest/file/encoding.ts";
import { type Format, openRows } from "../../ingest/file/format.ts";
import type { Source } from "../../ingest/file/source.ts";
import { type Judging, readToEnd } from "../../ingest/run.ts";
import { printable } from "../../operator/printable.ts";
import { UserError } from "../../operator/user-error.ts";
import type { ImportCounts, StagedImport } from "../../store/imports.ts";
import type { Output } from "../terminal/output.ts";
import { createProgress } from "../terminal/progress.ts";
import { columnsText, type Notes } from "./import-report.ts";

export interface FileReading extends Judging {
  readonly source: Source;
  readonly columns: Columns;
  readonly staged: StagedImport;
  readonly output: Output;
  readonly notes: Notes;
  readonly now: () => number;
}

export interface FileRead {
  readonly format: Format;
  /** The pixels of the leads that were put aside. */
  readonly pixels: ReadonlySet<string>;
}

/** Reads a file to its end and puts its rows aside; throws a UserError where it cannot be understood. */
export async function readFile(reading: FileReading, counts: ImportCounts): Promise<FileRead> {
  const { source, columns, output, notes } = reading;
  const rows = await openRows(toUtf8(source.chunks, notes.legacyLine), columns);
  if (rows === null) return { format: { kind: "ndjson" }, pixels: new Set() };
  const progress = createProgress("Reading", source.size, output);
  const groups = announce(rows.groups, columns, () => announceColumns(columns, rows.format, output));
  const onProgress = (read: number) => progress.update(source.bytesRead(), read);
  const { onReject, onWarning } = notes;
  try {
    const pixels = await readToEnd({ ...reading, groups, onReject, onWarning, onProgress }, counts);
    return { format: rows.format, pixels };
  } finally {
    progress.stop();
  }
}

/** Says what is read as what; throws a UserError where a table has nothing to read, or not what --map names. */
function announceColumns(columns: Columns, format: Format, output: Output): void {
  const report = reportOn(columns);
  const [missing] = columns.missing();
  const names = `Its columns are ${columns.names.slice(0, 40).map(printable).join(", ")}.`;
  if (format.kind === "csv" && missing !== undefined) {
    throw new UserError(`--map names a column ${JSON.stringify(missing)}, which the file does not have.`, names);
  }
  if (format.kind === "csv" && report.matched.length === 0) {
    const advice = "Check that it is CSV or NDJSON and begins with a header; --map says which column is which field.";
    throw new UserError(`No column of the file was recognised. ${names}`, advice);
  }
  output.say(columnsText(report, format));
}

/** Says something once columns are known, while nothing is put aside yet. */
async function* announce<Group>(
  groups: AsyncGenerator<Group>,
  columns: Columns,
  say: () => void,
): AsyncGenerator<Group> {
  let said = false;
  for await (const group of groups) {
    if (!said && columns.names.length > 0) {
      say();
      said = true;
    }
    yield group;
  }
}
