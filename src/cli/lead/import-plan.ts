/** What an import would do, said before its first lead goes in; a file that looks wrong is asked about. */
import { writeMoment } from "../../contract/time.ts";
import type { Columns } from "../../ingest/columns/columns.ts";
import { printable } from "../../operator/printable.ts";
import type { ImportCounts, Preview, StagedImport } from "../../store/imports.ts";
import { confirm } from "../terminal/confirm.ts";
import { grouped } from "../terminal/numbers.ts";
import type { Output } from "../terminal/output.ts";
import type { ImportRequest } from "./import-options.ts";

interface Planned {
  readonly columns: Columns;
  readonly output: Output;
  readonly request: ImportRequest;
}

interface Read {
  readonly counts: Readonly<ImportCounts>;
  readonly pixels: ReadonlySet<string>;
}

/** Says it and returns how many leads there are; throws a UserError when a person at a terminal does not want it. */
export async function announcePlan(run: Planned, staged: StagedImport, read: Read): Promise<number> {
  const { columns, output, request } = run;
  const idColumns = (columns.of.id ?? []).map((number) => columns.names[number] ?? "id");
  const preview = staged.preview(idColumns.length > 0);
  output.say(planText(preview, read));
  const doubts = [...sharingText(preview, idColumns), ...rejectedText(read.counts)];
  for (const doubt of doubts) output.say(doubt);
  if (doubts.length > 0 && request.dryRun !== true) {
    await confirm("Import it as it is?", {}, "Change the options as said above, or answer y.");
  }
  return preview.leads;
}

/** So many are named. */
const shownPixels = 5;

function planText({ leads, untimed, oldestMs, newestMs, older }: Preview, { counts, pixels }: Read): string {
  const [first, ...more] = [...pixels].toSorted();
  const named = [first, ...more.slice(0, shownPixels - 1)].map((pixel) => printable(pixel ?? "")).join(", ");
  const rest = pixels.size > shownPixels ? ` and ${grouped(pixels.size - shownPixels)} more` : "";
  const lines = [
    `Read ${grouped(counts.read + leads)} rows: ${grouped(leads)} to go in, ${grouped(counts.rejected)} rejected.`,
    ...(oldestMs === null || newestMs === null
      ? []
      : [`Their times go from ${writeMoment(oldestMs)} to ${writeMoment(newestMs)}.`]),
    ...(untimed === 0 ? [] : [`${grouped(untimed)} get the time of import.`]),
    ...(pixels.size === 0 ? [] : [`Pixel${pixels.size === 1 ? "" : "s"}: ${named}${rest}.`]),
    ...(older === 0
      ? []
      : [`${grouped(older)} are older than the newest lead of the account: clients that poll have passed those.`]),
  ];
  return lines.join("\n");
}

function sharingText({ sharingIds }: Preview, [column = "id"]: readonly string[]): string[] {
  if (sharingIds === 0) return [];
  return [
    `Warning: ${grouped(sharingIds)} rows share their id with another row and differ in time or page; of each id one ` +
      `lead is kept. If the id names the person, --map ${printable(column)}=- keeps the visits apart.`,
  ];
}

function rejectedText({ read, rejected }: Readonly<ImportCounts>): string[] {
  if (rejected < 10 || rejected * 2 < read) return [];
  return [`Warning: ${grouped(rejected)} rows are rejected; look at the reasons before the rest goes in.`];
}
