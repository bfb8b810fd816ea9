/** The order of numeric dates, which is decided for each column of a file: one date that allows nothing else decides it. */
import { UserError } from "../../../user-error.ts";
import { type DateOrder, readNumeric } from "./times.ts";

export interface DateOrders {
  /** The order of a column; null while it is not decided. */
  of(column: string): DateOrder | null;
  /** Records a date. Throws a UserError if it contradicts an earlier one of its column. */
  note(column: string, text: string, line: number): void;
}

/** What decided the order of a column. */
interface Evidence {
  readonly order: DateOrder;
  readonly text: string;
  readonly line: number;
}

/** The orders of the columns of a file; of all of them, if an option says so. */
export function createDateOrders(given: DateOrder | null): DateOrders {
  const decided = new Map<string, Evidence>();
  return {
    of: (column) => given ?? decided.get(column)?.order ?? null,
    note(column, text, line) {
      const order = given === null ? onlyOrderOf(text) : null;
      if (order === null) return;
      const known = decided.get(column);
      if (known === undefined) decided.set(column, { order, text, line });
      else if (known.order !== order) throw contradiction(column, known, { order, text, line });
    },
  };
}

/** Returns the only order in which a text is a date; null if there is none or more than one. */
function onlyOrderOf(text: string): DateOrder | null {
  const date = readNumeric(text);
  if (date === null || (date["day first"] === null) === (date["month first"] === null)) return null;
  return date["day first"] === null ? "month first" : "day first";
}

function contradiction(column: string, one: Evidence, other: Evidence): UserError {
  return new UserError(
    `The dates of ${JSON.stringify(column)} contradict each other: ${evidence(one)}, and ${evidence(other)}. ` +
      "Nothing was imported.",
    "Run the command again with --day-first or --month-first; dates of the other order are then rejected.",
  );
}

function evidence({ order, text, line }: Evidence): string {
  return `line ${line} can only have the ${order} (${text.slice(0, 10)})`;
}

/** The refusal of a column in which every date can be read both ways. */
export function undecided(column: string, text: string): UserError {
  return new UserError(
    `The dates of ${JSON.stringify(column)} can be read with the day or the month first (${text.slice(0, 10)}). ` +
      "Nothing was imported.",
    "Run the command again with --day-first or --month-first.",
  );
}
