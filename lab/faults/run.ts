/** bun run faults: runs every attack at its full size, one after the other, and reports the results. */
import { InvalidArgumentError } from "commander";
import { labCommand, readCount } from "../commands.ts";
import { createProgress, note } from "../progress.ts";
import { attempt, isNoticed } from "./attempt.ts";
import type { Fault, Outcome } from "./fault.ts";
import { faults } from "./faults.ts";

interface Options {
  readonly only?: readonly Fault[];
  readonly times?: number;
  readonly minutes?: number;
  readonly seed: number;
  readonly broken?: true;
  readonly json?: true;
}

interface Result extends Outcome, Pick<Fault, "name" | "attack" | "promise"> {
  readonly seconds: number;
  /** The reason why it did not run. */
  readonly skipped: string | null;
}

const options = labCommand("bun run faults", "Attacks the product. The status is 1 if a promise was broken.")
  .option("--only <part>", "those whose name has this part; may be repeated", choose)
  .option("--times <n>", "another size for all of them", readCount)
  .option("--minutes <n>", "the most that each may take", readCount)
  .option("--seed <n>", "repeats the chances of a run, which prints its seed", readCount, 1 + (Date.now() % 999_999))
  .option("--broken", "also the builds that are broken on purpose, which have to be caught")
  .option("--json", "print one JSON value")
  .parse()
  .opts<Options>();
const { only: chosen = faults, seed } = options;
note(`Seed ${seed}; the same attacks again: bun run faults --seed ${seed}`);
const results: Result[] = [];
for (const fault of chosen) results.push(await runOne(fault));
const uncaught = options.broken ? await uncaughtBreakages() : [];
const lines = [...results.map(report), ...uncaught.map((name) => `Not caught: ${name}`)];
process.stdout.write(`${options.json ? JSON.stringify({ seed, results, uncaught }) : lines.join("\n")}\n`);
process.exitCode = results.every(({ broken }) => broken.length === 0) && uncaught.length === 0 ? 0 : 1;

/** Rejects a part that no name contains: a run without attacks would look like success. */
function choose(part: string, before: readonly Fault[] = []): readonly Fault[] {
  const named = faults.filter(({ name }) => name.includes(part));
  const names = faults.map(({ name }) => name).join(", ");
  if (named.length === 0) throw new InvalidArgumentError(`The attacks are: ${names}.`);
  return [...new Set([...before, ...named])];
}

async function runOne(fault: Fault): Promise<Result> {
  const { name, attack, promise } = fault;
  const begunMs = performance.now();
  const skipped = fault.missing?.() ?? null;
  const outcome = skipped === null ? await runToItsEnd(fault, begunMs) : { done: 0, broken: [], figures: {} };
  const seconds = Math.round((performance.now() - begunMs) / 1000);
  note(`${name}: ${skipped ?? `${outcome.done} in ${seconds} s, ${outcome.broken.length} broken`}`);
  // Reported now: a later attack may end the process before the report.
  for (const what of outcome.broken) note(`  ! ${what}`);
  return { name, attack, promise, seconds, skipped, ...outcome };
}

/** Runs an attack. One that throws counts as a broken promise, because it has shown nothing. */
async function runToItsEnd(fault: Fault, begunMs: number): Promise<Outcome> {
  const { minutes = Number.POSITIVE_INFINITY, times = fault.full } = options;
  const progress = createProgress(fault.name, times);
  try {
    return await attempt(fault, { times, seed, untilMs: begunMs + minutes * 60_000, progress });
  } catch (cause) {
    return { done: 0, broken: [`the attack itself failed: ${cause}`], figures: {} };
  }
}

async function uncaughtBreakages(): Promise<string[]> {
  const found: string[] = [];
  for (const fault of chosen.filter(({ missing }) => (missing?.() ?? null) === null)) {
    for (const breakage of fault.breakages) {
      const what = `${fault.name}, ${breakage.name}`;
      const progress = createProgress(what, breakage.times ?? fault.small);
      const isCaught = await isNoticed(fault, breakage, { seed, progress });
      note(`${what}: ${isCaught ? "caught" : "not caught"}`);
      if (!isCaught) found.push(breakage.name);
    }
  }
  return found;
}

/** Formats a result as several lines, the first of which is empty. */
function report({ name, attack, promise, done, broken, figures, skipped, seconds }: Result): string {
  const measured = Object.entries(figures).map(([what, value]) => `${what} ${value}`);
  const said = skipped === null ? [`${done} times in ${seconds} s`, ...measured] : [`not run: ${skipped}`];
  const verdict = skipped !== null ? "–" : broken.length === 0 ? "held" : "BROKEN";
  return `\n${name}: ${verdict}\n  ${attack}\n  ${promise}\n  ${said.join("; ")}\n${broken.map((what) => `  ! ${what}\n`).join("")}`;
}
