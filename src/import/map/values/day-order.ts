/** Whether a file writes the day before the month. Most dates can be read either way; those of other days tell. */
import type { TimeReading } from "./times.ts";

const slashes = /^(\d{1,2})[/-](\d{1,2})[/-]\d/;
const isMonth = (number: number) => number <= 12;
const isDayAlone = (number: number) => number > 12 && number <= 31;

export function createDayOrder({ dayFirst }: Pick<TimeReading, "dayFirst">) {
  let dayFirstAlone = 0;
  let monthFirstAlone = 0;
  let either = 0;
  return {
    /** Takes note of a time as it is written. */
    note(text: string): void {
      const match = slashes.exec(text);
      if (match === null) return;
      const [one, two] = [Number(match[1]), Number(match[2])];
      if (isDayAlone(one) && isMonth(two)) dayFirstAlone++;
      else if (isMonth(one) && isDayAlone(two)) monthFirstAlone++;
      else if (isMonth(one) && isMonth(two) && one !== two) either++;
    },
    /** How many dates were read in an order that no other date of the file can have. */
    doubtful(): number {
      const [fitting, others] = dayFirst ? [dayFirstAlone, monthFirstAlone] : [monthFirstAlone, dayFirstAlone];
      return others > 0 && fitting === 0 ? either : 0;
    },
  };
}
