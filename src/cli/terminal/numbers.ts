/** Numbers for people. */

/** Returns a number with its thousands grouped: 1,204. */
export function grouped(number: number): string {
  return number.toLocaleString("en-US");
}

/** Returns the first texts of a list, and how many more there are: `a, b and 1,204 more`. */
export function firstOf(texts: readonly string[], max: number, separator = ", "): string {
  const shown = texts.slice(0, max).join(separator);
  return texts.length > max ? `${shown} and ${grouped(texts.length - max)} more` : shown;
}

/** Returns how many of a noun, with its plural, such as `import`: 1 import, 1,204 imports. */
export const counted = (noun: string) => (count: number) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Returns a number of leads: 1 lead, 1,204 leads. */
export const leadsText = counted("lead");
/** Returns a number of rows: 1 row, 1,204 rows. */
export const rowsText = counted("row");
/** Returns a number of days: 1 day, 1,204 days. */
export const daysText = counted("day");

/** Returns a number of bytes: 1.2 GB. */
export function bytesText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const amount = bytes / 1000 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}
