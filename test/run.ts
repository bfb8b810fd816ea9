/** bun run test: runs tests, and prints the progress, the remaining time, and which tests were skipped. --lab runs the slow ones. */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundlePrograms } from "./support/bundle.ts";

/** Tests that need a cluster, an emulator, a whole system, a browser, or compilers, or files that could fill the memory. */
const inLab = [
  "docs/browser.test.ts",
  "docs/polling.test.ts",
  "docs/programs.test.ts",
  "extensions/cluster",
  "ops/deploy",
  "ops/executable.test.ts",
  "packages/client/package.test.ts",
  "packages/generated",
  "security/bombs.test.ts",
];

const ignoring = (path: string) => `--path-ignore-patterns=test/${path}${path.endsWith(".ts") ? "" : "/**"}`;

/** The runs of all tests, with their usual number of tests and duration. Most tests wait, so two cores can run many at once. */
const runs = {
  core: {
    folder: join(import.meta.dir, ".."),
    usual: { tests: 3_750, seconds: 120 },
    options: ["--parallel=5", "--timings=test/timings.json"],
    paths: inLab.map(ignoring),
  },
  lab: {
    folder: join(import.meta.dir, "../lab"),
    usual: { tests: 220, seconds: 450 },
    // The folder lab/ has no bunfig.toml.
    options: ["--parallel=4", "--timings=timings.json", "--preload=../test/support/run.ts"],
    paths: ["./commands.test.ts", "./faults", "./connectors", ...inLab.map((path) => `../test/${path}`)],
  },
};

const chosen = process.argv.slice(2);
const isLab = chosen[0] === "--lab";
const { folder, usual, options, paths } = isLab ? runs.lab : runs.core;
const isWhole = isLab || chosen.length === 0;
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
  const text = isWhole ? `${done} of about ${total} tests, about ${left.toFixed(0)} s left` : `${done} tests`;
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

/** Memory, where a database is synced at once. Containers often have too little of it. */
const memory = "/dev/shm";
const minMemoryBytes = 4 * 1024 ** 3;

function temporaryFolder(): string {
  if (process.env["TMPDIR"] !== undefined || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < minMemoryBytes ? tmpdir() : memory;
}

// The tests of the lab need more space than a folder in memory has.
const temporary = isLab ? tmpdir() : temporaryFolder();
const bundles = mkdtempSync(join(temporary, "leadfile-bundles-"));
// Some tests start the server as another user.
chmodSync(bundles, 0o755);
await bundlePrograms(bundles);
// Files without a time start first, then the slowest ones, so timings.json must have all files (--update-timings writes it).
const child = Bun.spawn([process.execPath, "test", "--no-isolate", ...options, ...(isWhole ? paths : chosen)], {
  cwd: folder,
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
