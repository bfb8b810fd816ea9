/** Every lead of a simulated year: what must be there at a moment, and what must not. */
import { dayMs } from "../../../../src/contract/calendar.ts";
import type { Random } from "../../../random.ts";

export interface Visit {
  /** Null if the vendor sends none. */
  readonly id: string | null;
  readonly email: string | null;
  readonly state: string;
  readonly city: string;
  readonly pixel_id: string;
  readonly identified_at: string;
}

export type Matches = (lead: Visit) => boolean;

const places = ["San Diego, CA", "Fresno, CA", "Albany, NY", "Austin, TX", "Reno, NV"] as const;

/** Remembers what was delivered and erased, where leads are kept for some days. */
export class Model {
  /** By their times, in the order of their delivery. */
  leads = new Map<string, Visit>();
  readonly erased = new Set<string>();
  readonly #usedMs = new Set<number>();

  constructor(
    readonly random: Random,
    readonly keepDays: number,
  ) {}

  /** Makes visits between two times. No two have the same millisecond, so the import moves none. */
  visits(count: number, fromMs: number, toMs: number, emails = (): string | null => this.#email()): Visit[] {
    return Array.from({ length: count }, () => {
      let ms = 0;
      do ms = fromMs + this.random.below(toMs - fromMs);
      while (this.#usedMs.has(ms));
      this.#usedMs.add(ms);
      const [city = "", state = ""] = this.random.pick(places).split(", ");
      const pixel_id = this.random.pick(["px", "px2"]);
      const identified_at = new Date(ms).toISOString();
      return { id: crypto.randomUUID(), email: emails(), state, city, pixel_id, identified_at };
    });
  }

  /** Some persons come again, and some visitors have no address. */
  #email(): string | null {
    if (this.random.below(10) === 0) return null;
    const email = `p${this.random.below(Math.max(50, this.#usedMs.size))}@example.com`;
    return this.erased.has(email) ? null : email;
  }

  deliver(visits: readonly Visit[]): void {
    for (const visit of visits) this.leads.set(visit.identified_at, visit);
  }

  /** Returns to a snapshot, and returns what was delivered since. */
  restore(snapshot: ReadonlyMap<string, Visit>): Visit[] {
    const since = [...this.leads.values()].filter(({ identified_at }) => !snapshot.has(identified_at));
    this.leads = new Map(snapshot);
    return since;
  }

  /**
   * Compares what is there with what should be: counts what is lost, and what is back although it was erased or is too
   * old. Retention is applied daily: for a day, either is right.
   */
  compare(
    there: ReadonlySet<string>,
    nowMs: number,
    {
      of = this.leads,
      matches = () => true,
      pending = new Set(),
    }: {
      readonly of?: ReadonlyMap<string, Visit>;
      readonly matches?: Matches;
      /** The times of leads that may be there or not. */
      readonly pending?: ReadonlySet<string>;
    } = {},
  ): { readonly lost: number; readonly back: number } {
    const lost = [...of.values()].filter(
      (lead) =>
        matches(lead) &&
        this.#isKept(lead, nowMs) &&
        !pending.has(lead.identified_at) &&
        !there.has(lead.identified_at),
    );
    const back = [...there].filter((time) => {
      const lead = of.get(time);
      return lead === undefined || !matches(lead) || !this.#isKept(lead, nowMs - dayMs);
    });
    return { lost: lost.length, back: back.length };
  }

  #isKept({ email, identified_at }: Visit, nowMs: number): boolean {
    const isErased = email !== null && this.erased.has(email);
    return !isErased && Date.parse(identified_at) >= nowMs - this.keepDays * dayMs;
  }
}

/** The times of leads, of which each is a line of JSON. */
export function timesIn(text: string): Set<string> {
  const lines = text.split("\n").filter(Boolean);
  return new Set(lines.map((line): string => JSON.parse(line).identified_at));
}
