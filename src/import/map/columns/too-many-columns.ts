/** Files with more columns than any export has: ids or times stand where names should. */
import { UserError } from "../../../user-error.ts";
import { placeFilter, recordsFilter } from "../../parse/jq.ts";

/** The largest exports have some hundreds. */
export const mostColumns = 2000;

/** The refusal of a file with still more columns than these. */
export class TooManyColumns extends UserError {
  constructor(titles: readonly string[]) {
    const { message, advice } = refusalOf(titles);
    super(message, advice);
  }
}

function refusalOf(titles: readonly string[]): Pick<UserError, "message" | "advice"> {
  const paths = titles.map((title) => title.split("."));
  const message = `The file has more than ${mostColumns.toLocaleString("en-US")} columns.`;
  const longest = paths.reduce((one, other) => (other.length > one.length ? other : one));
  if (longest.length === 1) {
    return { message, advice: "Check that its first line is the header, and leave out what is no column of leads." };
  }
  const level = mostVaried(paths);
  const place = longest.slice(0, level);
  const filter = level === longest.length - 1 ? `del(${placeFilter(place)})` : recordsFilter(place);
  // None of them is said: it may be the address of a person, and a log may keep it.
  return {
    message: `${message} Ids seem to stand where names should.`,
    advice: `Convert it: jq -c '${filter}' FILE > leads.ndjson`,
  };
}

/** The level of nested names at which the most different ones stand. */
function mostVaried(paths: readonly (readonly string[])[]): number {
  const depth = Math.max(...paths.map((path) => path.length));
  const names = Array.from({ length: depth }, (_, level) => new Set(paths.map((path) => path[level])).size);
  return names.indexOf(Math.max(...names));
}
