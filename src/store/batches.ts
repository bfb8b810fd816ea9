/** A batch is what one import brought: it is listed, and can be taken back. */
import type { ImportCounts } from "./imports.ts";

/** What came with one import, and what became of it. */
export interface Batch extends Readonly<ImportCounts> {
  readonly number: number;
  readonly startedMs: number;
  /** Null while it runs, and where it was cut short. */
  readonly finishedMs: number | null;
  readonly file: string;
  readonly by: string;
  /** The moments of the oldest and the newest lead that it added; null where it added none. */
  readonly oldestMs: number | null;
  readonly newestMs: number | null;
  /** How many leads of other imports it replaced. */
  readonly overwritten: number;
  /** When what it added was taken back; null while it is there. */
  readonly undoneMs: number | null;
}
