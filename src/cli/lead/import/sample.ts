/** Leads as they would be served, field by field, next to the columns that the values come from. */
import { type Lead, leadFields } from "../../../contract/lead.ts";
import type { ColumnReport } from "../../../import/map/report.ts";
import { printable } from "../../../user-error.ts";
import { pad } from "../../terminal/table.ts";

/** The widths that fit a terminal of 80 columns, with two spaces between them and two before. */
const widths = { field: 14, value: 38, column: 22 };

/** Returns a block of lines for each lead. Fields that are null are named in one line. */
export function sampleText(sample: readonly Lead[], columns: ColumnReport["columns"]): string {
  const places = sample.length === 3 ? ["first", "middle", "last"] : ["first", "last"];
  return sample
    .map((lead, number) => {
      const title = sample.length === 1 ? "The lead" : `The ${places[number] ?? "next"} lead`;
      return [`${title}, as it would be served:`, ...fieldLines(lead, columns)].join("\n");
    })
    .join("\n\n");
}

function fieldLines(lead: Lead, columns: ColumnReport["columns"]): string[] {
  const given = leadFields.filter((field) => lead[field] !== null);
  const empty = leadFields.filter((field) => lead[field] === null);
  const lines = given.map((field) => {
    const from = columns.filter((column) => column.field === field).map(({ column }) => column);
    const cells = [
      pad(field, widths.field),
      pad(printable(lead[field] ?? ""), widths.value),
      pad(printable(from.length === 0 ? (madeOf[field] ?? "") : from.join(", ")), widths.column),
    ];
    return `  ${cells.join("  ")}`.trimEnd();
  });
  const indent = "        ";
  const others = Bun.wrapAnsi(empty.join(", "), 78 - indent.length).replaceAll("\n", `\n${indent}`);
  return empty.length === 0 ? lines : [...lines, `  null: ${others}`];
}

/** The origin of a field that no column holds. */
const madeOf: Readonly<Record<string, string>> = {
  id: "(made from the row)",
  identified_at: "(time of import)",
  pixel_id: "(--pixel)",
};
