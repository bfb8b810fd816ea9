/**
 * Prints the lines of code of each folder next to those of the last release. `bun run check` runs it; it never fails.
 * `bun test/lines.ts --record VERSION` records the current lines when a release is made.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Recorded {
  readonly version: string;
  readonly lines: Readonly<Record<string, number>>;
}

const root = join(import.meta.dir, "..");
const file = join(import.meta.dir, "released-lines.json");
const code =
  "{src,extensions,packages,test,lab,deploy,docs,examples,connectors}/**/*.{ts,css,js,mjs,lua,sh,py,go,java}";

/** Counts the lines by folder: two levels deep for programs, one for the rest. */
function countLines(): Record<string, number> {
  const paths = [...new Bun.Glob(code).scanSync(root)].filter(
    (path) => !/\/(node_modules|dist|__pycache__)\//.test(path),
  );
  const lines: Record<string, number> = {};
  for (const path of paths.toSorted()) {
    const [top = "", below = "", ...rest] = path.split("/");
    const isProgram = ["src", "extensions", "packages"].includes(top);
    const folders = isProgram ? [top, `${top}/${rest.length > 0 ? below : "*.ts"}`] : [top];
    const count = readFileSync(join(root, path), "utf8").split("\n").length - 1;
    for (const folder of folders) lines[folder] = (lines[folder] ?? 0) + count;
  }
  return lines;
}

const lines = countLines();
const [flag, version = ""] = process.argv.slice(2);
if (flag === "--record") writeFileSync(file, `${JSON.stringify({ version, lines }, null, 2)}\n`);
const recorded: Recorded = JSON.parse(readFileSync(file, "utf8"));
const folders = [...new Set([...Object.keys(lines), ...Object.keys(recorded.lines)])].toSorted();
const row = (name: string, now: string, before: string) =>
  `${name.padEnd(24)} ${now.padStart(8)} ${before.padStart(8)}`;
const rows = folders.map((name) => row(name, String(lines[name] ?? 0), String(recorded.lines[name] ?? 0)));
process.stdout.write(`${[row("lines of code", "now", recorded.version), ...rows].join("\n")}\n`);
