/** The changes that an import would make, reported before its first lead is stored. If a file looks wrong, it asks. */
import type { Lead } from "../../../contract/lead.ts";
import { writeMoment } from "../../../contract/time.ts";
import type { Columns } from "../../../import/map/columns.ts";
import type { Target } from "../../../import/map/fields.ts";
import { emptyRow } from "../../../import/map/lead.ts";
import { type ColumnReport, reportOn } from "../../../import/map/report.ts";
import type { FileRead } from "../../../import/reading.ts";
import type { Preview, StagedImport } from "../../../import/staged-import.ts";
import { printable } from "../../../user-error.ts";
import { andMore, grouped, rowsText } from "../../terminal/numbers.ts";
import type { Output } from "../../terminal/output.ts";
import { canAsk, confirm } from "../../terminal/prompt.ts";
import type { ImportRequest } from "./options.ts";
import { rejectionLines } from "./report.ts";
import { sampleText } from "./sample.ts";

interface Planned {
  readonly columns: Columns;
  readonly output: Output;
  readonly request: ImportRequest;
  /** Returns true if the account has imported no file with these columns, so that nobody has seen how they are read. */
  readonly isUnknown: () => boolean;
  /** Some leads, as they would be served. */
  readonly sample: readonly Lead[];
  /** The pixels that the account had before. */
  readonly known: ReadonlySet<string>;
}

interface Announced {
  readonly leads: number;
  /** The reason why the file looks wrong. */
  readonly doubts: readonly string[];
}

/** Says what the import would do. Throws a UserError if a person at a terminal does not want it. */
export async function announcePreview(run: Planned, staged: StagedImport, read: FileRead): Promise<Announced> {
  const { columns, output, request, known } = run;
  const report = reportOn(columns);
  const { matched } = report;
  const idColumns = matched.find(({ target }) => target === "id")?.names ?? [];
  const preview = await staged.preview(idColumns.length > 0);
  output.say(previewText(preview, read, known));
  const isAttended = request.followsNoLink !== true && canAsk();
  // Nobody can be asked, and the leads would get a time that is not theirs.
  if (read.doubt !== null && preview.leads > 0 && !isAttended) throw read.doubt;
  const doubts = [
    otherHeaderText(read),
    nobodyText(matched, request),
    sharingText(preview, idColumns),
    changedText(preview),
    cutText(preview),
    changedEmailsText(preview),
    read.doubt === null ? null : `Warning: ${read.doubt.sentence}`,
    rejectedText(preview, read),
    otherPixelsText(preview, read, known),
  ].filter((text) => text !== null);
  for (const line of [...rejectionLines(read.notes), ...doubts]) output.say(line);
  if ((doubts.length > 0 || (isAttended && run.isUnknown())) && preview.leads > 0 && request.dryRun !== true) {
    if (isAttended) output.say(`\n${sampleText(run.sample, report.columns)}\n`);
    await confirm("Import it as it is?", {}, "Change the options as said above, or answer y.");
  }
  return { leads: preview.leads, doubts };
}

/** At most this many are named. */
const shownPixels = 5;

function previewText(
  { leads, untimed, oldestMs, newestMs, older }: Preview,
  { counts, pixels }: FileRead,
  known: ReadonlySet<string>,
): string {
  // New pixels are worth a look, so they come first.
  const inOrder = [...pixels.difference(known)].toSorted().concat([...pixels.intersection(known)].toSorted());
  const named = inOrder
    .slice(0, shownPixels)
    .map((pixel) => `${printable(pixel)}${known.has(pixel) ? "" : " (new)"}`)
    .join(", ");
  const rest = andMore(pixels.size, shownPixels);
  const late =
    older === 1
      ? "1 is older than the newest lead of the account: if it is new, it comes late for clients that poll."
      : `${grouped(older)} are older than the newest lead of the account: ` +
        "those of them that are new come late for clients that poll.";
  const hasTimes = oldestMs !== null && newestMs !== null;
  const lines = [
    `Read ${rowsText(counts.read + leads)}: ${grouped(leads)} accepted, ${grouped(counts.rejected)} rejected.`,
    hasTimes && `Their times go from ${writeMoment(oldestMs)} to ${writeMoment(newestMs)}.`,
    untimed > 0 && `${grouped(untimed)} ${untimed === 1 ? "gets" : "get"} the time of import.`,
    pixels.size > 0 && `Pixel${pixels.size === 1 ? "" : "s"}: ${named}${rest}.`,
    older > 0 && late,
  ];
  return lines.filter((line) => line !== false).join("\n");
}

function otherHeaderText({ otherHeader: line }: FileRead): string | null {
  if (line === null) return null;
  return `Warning: line ${line} looks like the header; delete the lines above it, and import the file again.`;
}

const ofPerson: readonly Target[] = ["name", "first_name", "last_name", "email", "verified_email", "phone", "company"];

/** Deliveries have columns of their own, and those of the last one say nothing of the others. */
function nobodyText(matched: ColumnReport["matched"], { ofDeliveries }: ImportRequest): string | null {
  if (ofDeliveries === true || matched.some(({ target }) => ofPerson.includes(target))) return null;
  return "Warning: no column has a name, an email address, a phone, or a company; --map theirs=ours says which one does.";
}

function changedEmailsText({ changedEmails }: Preview): string | null {
  if (changedEmails === 0) return null;
  const leads = `${grouped(changedEmails)} stored ${changedEmails === 1 ? "lead gets" : "leads get"}`;
  return (
    `Warning: ${leads} another email address by --on-duplicate replace. If the IDs are those of the file and not of ` +
    "visits, leave --on-duplicate out."
  );
}

function sharingText({ sharingIds }: Preview, [column = "id"]: readonly string[]): string | null {
  if (sharingIds === 0) return null;
  return (
    `Warning: ${grouped(sharingIds)} rows share their id with another row and differ in time or page; of each id one ` +
    `lead is kept. If the id names the person, --map ${printable(column)}=- keeps the visits apart. If it looks like ` +
    "1.23E+15, a spreadsheet has cut it: import the vendor's own file."
  );
}

function changedText({ changedVisits }: Preview): string | null {
  if (changedVisits === 0) return null;
  return (
    `Warning: at least ${rowsText(changedVisits)} with the time, page, and visitor of a stored lead, and other content: ` +
    "both are kept. If they are the same visits, undo the import that brought those, and import both " +
    "files with --identity email,page_url,identified_at --on-duplicate replace."
  );
}

function cutText({ cutVisits }: Preview): string | null {
  if (cutVisits === 0) return null;
  return (
    `Warning: at least ${rowsText(cutVisits)} with the minute, page, and visitor of a stored lead: both are kept. ` +
    "The times of this file have no seconds; if a spreadsheet has saved it, import the vendor's own file."
  );
}

function rejectedText({ leads }: Preview, { counts: { read, rejected: all }, notes }: FileRead): string | null {
  const empty = notes.reasons.get(emptyRow) ?? 0;
  const rejected = all - empty;
  if (rejected < 10 || rejected * 2 < read - empty + leads) return null;
  return `Warning: ${grouped(rejected)} rows are rejected; look at the reasons before the rest is imported.`;
}

function otherPixelsText({ leads }: Preview, { pixels }: FileRead, known: ReadonlySet<string>): string | null {
  if (leads === 0 || known.size === 0 || !pixels.isDisjointFrom(known)) return null;
  return "Warning: the account has none of its pixels yet, but others; perhaps it is the file of another account.";
}
