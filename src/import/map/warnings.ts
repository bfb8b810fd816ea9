/** What was left out of a lead, or decided for it, in the words of whoever owns the file. */
import { namesOf } from "../../contract/names.ts";

const texts = {
  state: "the state is not a US state, so it was left empty",
  country: "the country is not the United States, so the state was left empty",
  email: "the email address is not valid, so it was left empty",
  "beside email": "the cell holds more than email addresses; the first address was kept",
  phone: "the phone number is not valid, so it was left empty",
  "beside phone": "the cell holds more than one phone number, or an extension; the first number was kept",
  people: "the record holds several people in a list; the first was kept",
  visits: "the record holds several visits in a list; the first was kept",
  values: "two columns of the same rank hold different values for one field; the first was kept",
  "repeated hour": "the local time occurs twice when clocks change; the earlier one was taken",
  "skipped hour": "the local time is skipped when clocks change; it was moved forward by the gap",
} as const;

export type Warning = keyof typeof texts;

/** How many rows each warning concerns. */
export type WarningCounts = ReadonlyMap<Warning, number>;

/** Returns a line for each warning of a file. */
export function warningLines(counts: WarningCounts): string[] {
  return namesOf(texts).flatMap((warning) => {
    const count = counts.get(warning) ?? 0;
    return count === 0 ? [] : [`${count.toLocaleString("en-US")} ${count === 1 ? "row" : "rows"}: ${texts[warning]}.`];
  });
}
