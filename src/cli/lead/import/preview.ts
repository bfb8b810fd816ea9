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
  const { output, request } = run;
  const report = reportOn(run.columns);
  const preview = await staged.preview(columnsOf(report, "id").length > 0);
  output.say(previewText(preview, read, run.known));
  const isAttended = request.followsNoLink !== true && canAsk();
  // Nobody can be asked, and the leads would get a time that is not theirs.
  if (read.doubt !== null && preview.leads > 0 && !isAttended) throw read.doubt;
  const doubts = doubtsOf(run, report, preview, read);
  for (const line of [...rejectionLines(read.notes), ...doubts]) output.say(line);
  if ((doubts.length > 0 || (isAttended && run.isUnknown())) && preview.leads > 0 && request.dryRun !== true) {
    if (isAttended) output.say(`\n${sampleText(run.sample, report.columns)}\n`);
    await confirm("Import it as it is?", {}, "Change the options as said above, or answer y.");
  }
  return { leads: preview.leads, doubts };
}

function columnsOf({ matched }: ColumnReport, field: Target): readonly string[] {
  return matched.find(({ target }) => target === field)?.names ?? [];
}

/** The limit of pixels that are named. */
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
    pixels.size > 0 && `Pixel${pixels.size === 1 ? "" : "s"}: ${named}${andMore(pixels.size, shownPixels)}.`,
    older > 0 && late,
  ];
  return lines.filter((line) => line !== false).join("\n");
}

const ofPerson: readonly Target[] = ["name", "first_name", "last_name", "email", "verified_email", "phone", "company"];

/** Returns why the file looks wrong, with the option that changes it. */
function doubtsOf({ request, known }: Planned, report: ColumnReport, preview: Preview, read: FileRead): string[] {
  const { leads, sharingIds, changedVisits, cutVisits, changedEmails } = preview;
  // Deliveries have different columns, and those of the last one say nothing of the others.
  const namesNobody = request.ofDeliveries !== true && !ofPerson.some((field) => columnsOf(report, field).length > 0);
  const [id = "id"] = columnsOf(report, "id");
  const empty = read.notes.reasons.get(emptyRow) ?? 0;
  const rejected = read.counts.rejected - empty;
  const isMostlyRejected = rejected >= 10 && rejected * 2 >= read.counts.read - empty + leads;
  const hasOtherPixels = leads > 0 && known.size > 0 && read.pixels.isDisjointFrom(known);
  const doubts = [
    read.otherHeader !== null &&
      `line ${read.otherHeader} looks like the header; delete the lines above it, and import the file again.`,
    namesNobody &&
      "no column has a name, an email address, a phone, or a company; --map theirs=ours says which one does.",
    sharingIds > 0 &&
      `${grouped(sharingIds)} rows share their id with another row and differ in time or page; of each id one lead is kept. ` +
        `If the id names the person, --map ${printable(id)}=- keeps the visits apart. If it looks like 1.23E+15, a ` +
        "spreadsheet has cut it: import the vendor's own file.",
    changedVisits > 0 &&
      `at least ${rowsText(changedVisits)} with the time, page, and visitor of a stored lead, and other content: both are ` +
        "kept. If they are the same visits, undo the import that brought those, and import both files with " +
        "--identity email,page_url,identified_at --on-duplicate replace.",
    cutVisits > 0 &&
      `at least ${rowsText(cutVisits)} with the minute, page, and visitor of a stored lead: both are kept. The times of this ` +
        "file have no seconds; if a spreadsheet has saved it, import the vendor's own file.",
    changedEmails > 0 &&
      `${grouped(changedEmails)} stored ${changedEmails === 1 ? "lead gets" : "leads get"} another email address by ` +
        "--on-duplicate replace. If the IDs are those of the file and not of visits, leave --on-duplicate out.",
    read.doubt?.sentence,
    isMostlyRejected && `${grouped(rejected)} rows are rejected; look at the reasons before the rest is imported.`,
    hasOtherPixels && "the account has none of its pixels yet, but others; perhaps it is the file of another account.",
  ];
  return doubts.filter((doubt) => typeof doubt === "string").map((doubt) => `Warning: ${doubt}`);
}
