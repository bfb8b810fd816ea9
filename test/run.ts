/** bun run test: runs the tests, and prints the progress, the remaining time, and which tests were skipped. */
import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const chosen = process.argv.slice(2);
/** The last complete run on this machine. */
const record = join(import.meta.dir, "../node_modules/.cache/leadfile-tests.json");
const expected = chosen.length > 0 ? null : readRecord();
const lineEveryMs = 15_000;

interface Run {
  readonly tests: number;
  readonly seconds: number;
}

function readRecord(): Run {
  try {
    return JSON.parse(readFileSync(record, "utf8"));
  } catch {
    // The usual figures of a machine with two cores.
    return { tests: 3_500, seconds: 120 };
  }
}

let done = 0;
let printedMs = Number.NEGATIVE_INFINITY;
const elapsed = () => performance.now() / 1000;

/** Prints the progress: on a terminal in one line that is rewritten, elsewhere in a line every 15 seconds. */
function printProgress(): void {
  const isTerminal = process.stdout.isTTY;
  if (!isTerminal && performance.now() < printedMs + lineEveryMs) return;
  printedMs = performance.now();
  const total = Math.max(done, expected?.tests ?? 0);
  const left = done < total / 20 ? (expected?.seconds ?? 0) : (elapsed() / Math.max(1, done)) * (total - done);
  const text = expected === null ? `${done} tests` : `${done} of about ${total} tests, about ${left.toFixed(0)} s left`;
  process.stdout.write(isTerminal ? `\r\u001b[K${text}` : `${text}\n`);
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${process.stdout.isTTY ? "\r\u001b[K" : ""}${lines.join("\n")}\n`);
}

/** The output since the last test. It is dropped if the test passes, unless it reports an error between tests. */
let output: string[] = [];
let isSummary = false;

function take(line: string): void {
  isSummary ||= /^\d+ tests? (?:skipped|failed):$|^ *\d+ pass$/.test(line);
  const [, verdict] = /^\((pass|skip|fail)\) /.exec(line) ?? [];
  if (isSummary || verdict === undefined) return void output.push(line);
  done += 1;
  if (verdict === "fail") print([...output, line]);
  else if (output.some((text) => /^error|^panic|^# Unhandled/.test(text))) print(output);
  output = [];
  printProgress();
}

/** Tests with a cluster, an emulator, a whole system, or generators. `bun run --cwd lab test` runs them. */
const inLab = ["extensions/cluster/**", "ops/executable.test.ts", "ops/deploy/debian.test.ts", "packages/generated/**"];

/** Memory, where a database is synced at once. Containers often have too little of it. */
const memory = "/dev/shm";
const minMemoryBytes = 4 * 1024 ** 3;

function temporaryFolder(): { readonly TMPDIR?: string } {
  if (process.env["TMPDIR"] !== undefined || !existsSync(memory)) return {};
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < minMemoryBytes ? {} : { TMPDIR: memory };
}

const ignored = chosen.length > 0 ? [] : inLab.map((path) => `--path-ignore-patterns=test/${path}`);
// Many tests wait for a process or a time, so two cores keep five workers busy. The slowest files start first.
const options = ["--parallel=5", "--no-isolate", `--timings=${join(import.meta.dir, "timings.json")}`, ...ignored];
const child = Bun.spawn([process.execPath, "test", ...options, ...chosen], {
  env: { ...process.env, ...temporaryFolder() },
  stdout: "inherit",
  stderr: "pipe",
});
printProgress();
let rest = "";
for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) take(line);
}
print([...output, rest]);
process.exitCode = await child.exited;
if (chosen.length === 0 && process.exitCode === 0) {
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, JSON.stringify({ tests: done, seconds: Math.round(elapsed()) }));
}
