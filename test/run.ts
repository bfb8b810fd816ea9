/** bun run test: runs the tests, and says how far they are, about how long the others take, and what was skipped. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
    // About what it is on two cores.
    return { tests: 3_500, seconds: 180 };
  }
}

let done = 0;
let saidMs = Number.NEGATIVE_INFINITY;
const elapsed = () => performance.now() / 1000;

/** Says the progress: on a terminal in one line that moves on, elsewhere in a line every 15 seconds. */
function sayProgress(): void {
  const isTerminal = process.stdout.isTTY;
  if (!isTerminal && performance.now() < saidMs + lineEveryMs) return;
  saidMs = performance.now();
  const total = Math.max(done, expected?.tests ?? 0);
  const left = done < total / 20 ? (expected?.seconds ?? 0) : (elapsed() / Math.max(1, done)) * (total - done);
  const text = expected === null ? `${done} tests` : `${done} of about ${total} tests, about ${left.toFixed(0)} s left`;
  process.stdout.write(isTerminal ? `\r\u001b[K${text}` : `${text}\n`);
}

function say(lines: readonly string[]): void {
  process.stdout.write(`${process.stdout.isTTY ? "\r\u001b[K" : ""}${lines.join("\n")}\n`);
}

/** What was printed since the last test. Of a test that passes it is dropped, unless it tells of an error between tests. */
let printed: string[] = [];
let isSummary = false;

function take(line: string): void {
  isSummary ||= /^\d+ tests? (?:skipped|failed):$|^ *\d+ pass$/.test(line);
  const [, verdict] = /^\((pass|skip|fail)\) /.exec(line) ?? [];
  if (isSummary || verdict === undefined) return void printed.push(line);
  done += 1;
  if (verdict === "fail") say([...printed, line]);
  else if (printed.some((text) => /^error|^panic|^# Unhandled/.test(text))) say(printed);
  printed = [];
  sayProgress();
}

const options = ["--parallel=4", "--no-isolate", "--path-ignore-patterns=test/extensions/cluster/**"];
const child = Bun.spawn([process.execPath, "test", ...options, ...chosen], { stdout: "inherit", stderr: "pipe" });
sayProgress();
let rest = "";
for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) take(line);
}
say([...printed, rest]);
process.exitCode = await child.exited;
if (chosen.length === 0 && process.exitCode === 0) {
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, JSON.stringify({ tests: done, seconds: Math.round(elapsed()) }));
}
