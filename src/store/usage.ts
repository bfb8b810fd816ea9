/**
 * The port of usage (§2.4). Requests are counted in memory (usage-counter.ts). The counts leave in parts for the store,
 * which need not be the file from which requests are answered.
 */
import type { KeyNumber } from "./reading.ts";

export interface UsageCounter {
  /** Counts one request; it is on disk a second later at the latest. */
  count(key: KeyNumber, nowMs: number): void;
  /** What was counted in the UTC day and month of a moment. */
  of(key: KeyNumber, nowMs: number): UsageCounts;
}

interface UsageCounts {
  readonly today: number;
  readonly month: number;
}

/** Requests of some keys on one UTC day. */
export interface UsagePart {
  /** `2026-01-31` */
  readonly day: string;
  readonly counts: readonly (readonly [key: KeyNumber, requests: number])[];
}

/** What was kept of the counts, from one UTC day to another, both included. */
export interface UsageReader {
  between(key: KeyNumber, firstDay: string, lastDay: string): readonly { day: string; requests: number }[];
}

/**
 * How far the writing of counts came. idle: there was nothing to write. done: everything is written that was counted
 * when it began. more: a part is written, and others may go first before the next. locked: another program was writing.
 */
export type Flushed = "idle" | "done" | "more" | "locked";

export interface CountedUsage extends UsageCounter {
  /**
   * Some of the counts that wait, the oldest first; null when none waits. They stay counted here until they are
   * dropped.
   */
  next(): UsagePart | null;
  /** Drops a part that is in the store now. True while more is left of what waited when the first part was asked for. */
  drop(part: UsagePart): boolean;
}
