/** Quantiles of measurements. */

/** Returns the quantile of some values, such as the median for 0.5; NaN if there are no values. */
export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * part)] ?? Number.NaN;
}

export const median = (values: readonly number[]) => quantile(values, 0.5);
