/** Rows without a value to keep: why they are rejected, and whether --map would help. */

import { firstText, type Row } from "../../row.ts";
import { type Columns, isRejectColumn } from "../columns/columns.ts";

/** Why a row of empty cells is rejected, as spreadsheets end a sheet with. */
export const emptyRow = "it is empty";

/** Why a row is rejected that has nothing to keep. */
export function faultOfEmpty(row: Row, columns: Columns): string {
  if (isEmpty(row)) return emptyRow;
  return `it has no value to keep beside id, identified_at and pixel_id${mapHint(row, columns)}`;
}

/** Whether no cell has anything in it. Of JSON not all values are read. */
function isEmpty({ source }: Row): boolean {
  return typeof source !== "string" && source.every((cell) => firstText(cell) === null);
}

/** A word on columns whose names say nothing, where something may be in them. Of JSON their values are not read. */
function mapHint({ cells, source }: Row, { names, isKept }: Columns): string {
  const mayHold = (number: number) => typeof source === "string" || firstText(cells[number]) !== null;
  const isMissed = names.some((name, number) => !isKept(number) && !isRejectColumn(name) && mayHold(number));
  return isMissed ? " (--map theirs=ours says what its other columns are)" : "";
}
