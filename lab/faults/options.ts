/** The flags of `bun run faults`. */
import { parseArgs } from "node:util";
import type { Fault } from "./fault.ts";

export interface Options {
  /** The attacks that were chosen. */
  readonly chosen: readonly Fault[];
  /** Null leaves each attack at its full size. */
  readonly times: number | null;
  /** Null lets each attack take what it takes. */
  readonly minutes: number | null;
  readonly seed: number;
  /** Also the builds that are broken on purpose. */
  readonly broken: boolean;
  /** Only whether the tests notice lines that are broken one at a time. */
  readonly mutations: boolean;
  readonly json: boolean;
}

export const usage = `Attacks the product and says what came of it; ends with 1 when a promise was broken.

  bun run faults                      every attack at its full size; it takes hours
  bun run faults --only "power cut"   those whose name holds this; may be repeated
  bun run faults --times 200          another size for all of them
  bun run faults --minutes 10         no more than so long for each; what was done until then counts
  bun run faults --seed 42            the same chance again; it is printed
  bun run faults --broken             also the builds that are broken on purpose, which have to be caught
  bun run faults --mutations          lines of the product broken one at a time: does a test notice?
  bun run faults --json               one JSON value on standard output
`;

/** Reads the flags; throws an Error whose message says which is wrong. */
export function readOptions(args: readonly string[], faults: readonly Fault[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", multiple: true, default: [] },
      times: { type: "string" },
      minutes: { type: "string" },
      seed: { type: "string" },
      broken: { type: "boolean", default: false },
      mutations: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  return {
    ...values,
    chosen: choose(values.only, faults),
    times: readNumber("--times", values.times),
    minutes: readNumber("--minutes", values.minutes),
    seed: readNumber("--seed", values.seed) ?? Date.now() % 1_000_000,
  };
}

/** Refuses a part that is in no name: nothing would run, which looks like success. */
function choose(parts: readonly string[], faults: readonly Fault[]): readonly Fault[] {
  for (const part of parts) {
    if (faults.some(({ name }) => name.includes(part))) continue;
    const names = faults.map(({ name }) => name).join(", ");
    throw new Error(`--only ${JSON.stringify(part)} is in no name. The attacks are: ${names}.`);
  }
  return parts.length === 0 ? faults : faults.filter(({ name }) => parts.some((part) => name.includes(part)));
}

function readNumber(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} takes a whole number, not ${JSON.stringify(text)}.`);
  return Number(text);
}
