/** JSON that is a table by its columns: a list of values for each name. */
import type { Columns } from "../../map/columns/columns.ts";
import { placeFilter } from "../jq.ts";
import { isObject } from "./flatten.ts";

/**
 * Why an object is no record but a table; null where it may be one. A record has lists, too, such as of addresses. But it
 * has other values beside them, or no time, of which a visit has one.
 */
export function tableFault(record: Record<string, unknown>, columns: Columns): string | null {
  const names = Object.keys(record);
  const [first = ""] = names;
  const list = record[first];
  if (!Array.isArray(list) || list.length < 2) return null;
  const isColumn = (values: unknown) =>
    Array.isArray(values) && values.length === list.length && !values.some(isObject);
  const isTable =
    names.every((name) => isColumn(record[name])) && names.some((name) => columns.targetOf([name]) === "identified_at");
  if (!isTable) return null;
  return `it holds columns, not records; make these with jq -c 'range(${placeFilter([first])} | length) as $i | map_values(.[$i])'`;
}
