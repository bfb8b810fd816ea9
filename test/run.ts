/** bun run test: runs the tests, and prints the progress, the remaining time, and which tests were skipped. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundlePrograms } from "./support/bundle.ts";

const chosen = process.argv.slice(2);
/** The usual figures of all tests, on a machine with two cores. */
const usual = { tests: 3_850, seconds: 150 };
const lineEveryMs = 15_000;

let done = 0;
let printedMs = Number.NEGATIVE_INFINITY;

/** Prints the progress: on a terminal in one line that is rewritten, elsewhere in a line every 15 seconds. */
function printProgress(): void {
  const isTerminal = process.stdout.isTTY;
  if (!isTerminal && performance.now() < printedMs + lineEveryMs) return;
  printedMs = performance.now();
  const total = Math.max(done, usual.tests);
  const left = done < total / 20 ? usual.seconds : (performance.now() / 1000 / done) * (total - done);
  const isAll = chosen.length === 0;
  const text = isAll ? `${done} of about ${total} tests, about ${left.toFixed(0)} s left` : `${done} tests`;
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

function temporaryFolder(): string {
  if (process.env["TMPDIR"] !== undefined || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < minMemoryBytes ? tmpdir() : memory;
}

const ignored = chosen.length > 0 ? [] : inLab.map((path) => `--path-ignore-patterns=test/${path}`);
// Many tests wait for a process or a time, so two cores keep five workers busy. The slowest files start first, but after
// those without a time: so timings.json has all of them (--update-timings writes it).
const options = ["--parallel=5", "--no-isolate", `--timings=${join(import.meta.dir, "timings.json")}`, ...ignored];
const temporary = temporaryFolder();
const bundles = mkdtempSync(join(temporary, "leadfile-bundles-"));
await bundlePrograms(bundles);
const child = Bun.spawn([process.execPath, "test", ...options, ...chosen], {
  env: { ...process.env, TMPDIR: temporary, TEST_BUNDLES: bundles },
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
rmSync(bundles, { recursive: true });
process.exitCode = await child.exited;
