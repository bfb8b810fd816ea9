/** The flags of `bun run faults`. */
import { InvalidArgumentError } from "commander";
import { labCommand, readCount } from "../commands.ts";
import type { Fault } from "./fault.ts";

export interface Options {
  /** The attacks that were chosen; all of them without it. */
  readonly only?: readonly Fault[];
  /** Without it, each attack has its full size. */
  readonly times?: number;
  /** The time that each attack may take. */
  readonly minutes?: number;
  readonly seed: number;
  readonly broken?: true;
  readonly mutations?: true;
  readonly json?: true;
}

/** Reads the flags. Ends the process with one line if one is wrong. */
export function readOptions(faults: readonly Fault[]): Options {
  /** Refuses a part that is in no name: nothing would run, which looks like success. */
  const choose = (part: string, chosen: readonly Fault[] = []) => {
    const named = faults.filter(({ name }) => name.includes(part));
    const names = faults.map(({ name }) => name).join(", ");
    if (named.length === 0) throw new InvalidArgumentError(`The attacks are: ${names}.`);
    return [...chosen, ...named];
  };
  return labCommand("bun run faults", "Attacks the product. The status is 1 if a promise was broken.")
    .option("--only <part>", "those whose name has this part; may be repeated", choose)
    .option("--times <n>", "another size for all of them", readCount)
    .option("--minutes <n>", "the most that each may take", readCount)
    .option("--seed <n>", "repeats the chances of a run, which prints its seed", Number, Date.now() % 1_000_000)
    .option("--broken", "also the builds that are broken on purpose, which have to be caught")
    .option("--mutations", "only break lines of the product, one at a time: does a test notice?")
    .option("--json", "print one JSON value")
    .parse()
    .opts<Options>();
}
