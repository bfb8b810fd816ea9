/** Quantiles of measurements. */

/** The value below which a part of some values is; NaN if there are none. */
export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * part)] ?? Number.NaN;
}

export const median = (values: readonly number[]) => quantile(values, 0.5);
