/** bun run faults: every attack at its full size, one after the other, and what came of it. */
import { parseArgs } from "node:util";
import { attempt, type Trial } from "./attempt.ts";
import { tryMutations } from "./breaking/mutations.ts";
import type { Fault, Outcome } from "./fault.ts";
import { faults } from "./faults.ts";

const usage = `Attacks the product and says what came of it; ends with 1 when a promise was broken.

  bun run faults                      every attack at its full size; it takes more than an hour
  bun run faults --only "power cut"   those whose name holds this; may be repeated
  bun run faults --times 200          another size for all of them
  bun run faults --minutes 10         no more than so long for each; what was done until then counts
  bun run faults --seed 42            the same chance again; it is printed
  bun run faults --broken             also the builds that are broken on purpose, which have to be caught
  bun run faults --mutations          lines of the product broken one at a time: does a test notice?
  bun run faults --json               one JSON value on standard output
`;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    times: { type: "string" },
    minutes: { type: "string" },
    seed: { type: "string" },
    broken: { type: "boolean", default: false },
    mutations: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

interface Result extends Outcome {
  readonly name: string;
  readonly attack: string;
  readonly held: string;
  readonly seconds: number;
  /** Why it did not run. */
  readonly skipped: string | null;
}

let toldMs = 0;
const say = (text: string) => process.stderr.write(text);

if (options.help) process.stdout.write(usage);
else process.exitCode = options.mutations ? await mutate() : await runAll();

async function mutate(): Promise<number> {
  const { tried, unnoticed } = await tryMutations(say);
  const text = `${tried - unnoticed.length} of ${tried} broken lines were noticed.`;
  process.stdout.write(`${options.json ? JSON.stringify({ tried, unnoticed }) : text}\n`);
  return unnoticed.length === 0 ? 0 : 1;
}

async function runAll(): Promise<number> {
  const seed = wholeNumber("seed", options.seed) ?? Date.now() % 1_000_000;
  const chosen = faults.filter(
    ({ name }) => options.only.length === 0 || options.only.some((part) => name.includes(part)),
  );
  say(`Seed ${seed}; the same attacks again: bun run faults --seed ${seed}\n`);
  const results: Result[] = [];
  for (const fault of chosen) results.push(await runOne(fault, seed));
  const uncaught = options.broken ? await uncaughtBreakages(chosen, seed) : [];
  if (options.json) process.stdout.write(`${JSON.stringify({ seed, results, uncaught })}\n`);
  else
    process.stdout.write(
      `${results.map(report).join("\n")}\n${uncaught.map((name) => `Not caught: ${name}\n`).join("")}`,
    );
  return results.some(({ broken }) => broken.length > 0) || uncaught.length > 0 ? 1 : 0;
}

function wholeNumber(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  say(`--${name} takes a whole number, not ${JSON.stringify(text)}.\n`);
  process.exit(2);
}

async function runOne(fault: Fault, seed: number): Promise<Result> {
  const times = wholeNumber("times", options.times) ?? fault.full;
  const minutes = wholeNumber("minutes", options.minutes);
  const { name, attack, held } = fault;
  const skipped = fault.missing?.() ?? null;
  const begunMs = performance.now();
  const nothing: Outcome = { done: 0, broken: [], figures: {} };
  const progress = (done: number) => tell(name, done, times);
  const untilMs = minutes === null ? Number.POSITIVE_INFINITY : begunMs + minutes * 60_000;
  const outcome = skipped === null ? await runToItsEnd(fault, { times, seed, untilMs, progress }) : nothing;
  const seconds = Math.round((performance.now() - begunMs) / 1000);
  say(`\r\x1b[K${name}: ${skipped ?? `${outcome.done} in ${seconds} s, ${outcome.broken.length} broken`}\n`);
  // An hour later another attack may take what was found down with it.
  for (const what of outcome.broken) say(`  ! ${what}\n`);
  return { name, attack, held, seconds, skipped, ...outcome };
}

/** An attack that fails itself has not shown that the promise holds. */
async function runToItsEnd(fault: Fault, trial: Trial): Promise<Outcome> {
  try {
    return await attempt(fault, trial);
  } catch (cause) {
    return { done: 0, broken: [`the attack itself failed: ${cause}`], figures: {} };
  }
}

function tell(name: string, done: number, times: number): void {
  if (performance.now() - toldMs < 250) return;
  toldMs = performance.now();
  say(`\r\x1b[K${name}: ${done} of ${times}`);
}

async function uncaughtBreakages(chosen: readonly Fault[], seed: number): Promise<string[]> {
  const uncaught: string[] = [];
  for (const fault of chosen.filter(({ missing }) => (missing?.() ?? null) === null)) {
    for (const breakage of fault.breakages) {
      const { broken } = await attempt(fault, { times: breakage.times ?? fault.small, seed, breakage });
      say(`${fault.name}, ${breakage.name}: ${broken.length > 0 ? "caught" : "not caught"}\n`);
      if (broken.length === 0) uncaught.push(breakage.name);
    }
  }
  return uncaught;
}

function report({ name, attack, held, done, broken, figures, skipped, seconds }: Result): string {
  const measured = Object.entries(figures).map(([what, value]) => `${what} ${value}`);
  const lines = skipped === null ? [`${done} times in ${seconds} s`, ...measured] : [`not run: ${skipped}`];
  const verdict = skipped !== null ? "–" : broken.length === 0 ? "held" : "BROKEN";
  return `\n${name}: ${verdict}\n  ${attack}\n  ${held}\n  ${lines.join("; ")}\n${broken.map((what) => `  ! ${what}\n`).join("")}`;
}
