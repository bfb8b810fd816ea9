/** The flags of `bun run bench`. */
import { parseArgs } from "node:util";
import { readCount } from "../flags.ts";

export interface Options {
  readonly leads: number;
  readonly rounds: number;
  readonly seconds: number;
  /** Only asserts that all servers give equal answers. */
  readonly check: boolean;
  /** Also during an import by another process. */
  readonly import: boolean;
  readonly json: boolean;
}

export const usage = `bun run bench [options]
  --leads N     leads in the file (default 1000000)
  --rounds N    interleaved rounds, of which the median counts (default 3)
  --seconds N   length of each measurement (default 4)
  --import      also while another process imports
  --check       only assert that all servers give equal answers
  --json        print one JSON value instead of the table
`;

/** Reads the flags; throws an Error whose message says which is wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      leads: { type: "string", default: "1000000" },
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "4" },
      check: { type: "boolean", default: false },
      import: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  return {
    ...values,
    leads: readCount("--leads", values.leads),
    rounds: readCount("--rounds", values.rounds),
    seconds: readCount("--seconds", values.seconds),
  };
}
