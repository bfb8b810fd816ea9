/** A header that is not the first line: above it stands a title, or a line that names groups of columns. */
import type { Columns } from "./columns.ts";

/** Fewer words may be values that happen to be names of columns. */
const fewestNames = 3;

/** So many lines may stand above the header of a report. */
export const linesAbove = 10;

/** Whether the cells of a row name more fields than the header does. */
export function namesMore({ targetOf, of }: Columns, cells: readonly string[]): boolean {
  const named = new Set(cells.flatMap((cell) => targetOf([cell]) ?? []));
  return named.size >= fewestNames && named.size > Object.keys(of).length;
}
