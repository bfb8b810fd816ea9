/** What became of each column, for the eyes of whoever imports. */

import { type Target, targets } from "./aliases.ts";
import { type Columns, isRejectColumn } from "./columns.ts";

export interface ColumnReport {
  readonly matched: readonly { readonly target: Target; readonly names: readonly string[] }[];
  readonly unmatched: readonly string[];
  /** A remark on a column that was left out although its name is known. */
  readonly remark: string | null;
}

export function reportOn({ names, of, isKept }: Columns): ColumnReport {
  const used = new Set(Object.values(of).flat());
  // A column whose name is known is unused only where the file is an address book.
  const created = names.find((_, number) => !used.has(number) && isKept(number));
  return {
    matched: targets
      .filter((target) => target in of)
      .map((target) => ({ target, names: (of[target] ?? []).map((number) => names[number] ?? "") })),
    unmatched: names.filter((name, number) => !used.has(number) && !isRejectColumn(name)),
    remark:
      created === undefined
        ? null
        : `${created} is taken for the time at which a profile was made, not for a visit; ` +
          `--map "${created}=identified_at" overrules`,
  };
}
