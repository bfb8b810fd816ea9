/** One phone may be that of many, such as of a company. Where what names a person takes in several people, it is said. */
import { andMore, grouped } from "../terminal/numbers.ts";

/** What a line of a list, or an option, has found. */
export interface Found {
  readonly line: number;
  readonly leads: number;
  /** How many different people the leads name. */
  readonly people: number;
}

const shownLines = 10;
const how = "by their e-mail addresses, else by their names";

/** What to do where one alone is meant. */
export const oneAlone =
  "If you mean one of them alone, give an e-mail address instead. The id of a lead would keep out its phone as well, and with it the others.";

/** Says it, by the lines where there is more than one; null where each names one person. */
export function severalText(found: readonly Found[]): string | null {
  const shared = found.filter(({ people }) => people > 1);
  const [one] = shared;
  if (one === undefined) return null;
  if (found.length === 1) return `These leads seem to name ${grouped(one.people)} different people (${how}).`;
  const lines = [...new Set(shared.map(({ line }) => line))];
  const named = `${lines.slice(0, shownLines).join(", ")}${andMore(lines.length, shownLines)}`;
  const which = lines.length === 1 ? "Line" : "Each of the lines";
  return `${which} ${named} of the list seems to name several people (${how}).`;
}
