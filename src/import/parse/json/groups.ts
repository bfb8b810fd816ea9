/** Rows of JSON in groups, so that a page of many records does not fill the memory. */
import type { Row } from "../../row.ts";

/** A row has its text and its cells: all rows of a page would be several times the page. */
const rowsOfPageAtOnce = 5000;

/** The rows of some lines, or of one document, together. Only those of a large page come in several groups. */
export function* inGroups(parts: Iterable<Iterable<Row>>): Generator<Row[]> {
  let group: Row[] = [];
  for (const rows of parts) {
    let ofPart = 0;
    for (const row of rows) {
      group.push(row);
      if (++ofPart % rowsOfPageAtOnce > 0) continue;
      yield group;
      group = [];
      // Left to itself the engine keeps every row that was read.
      Bun.gc(true);
    }
  }
  yield group;
}
