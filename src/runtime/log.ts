/** The log on standard output: text on a terminal, else JSON that is written a few times a second. */
import { styleText } from "node:util";
import { type LevelWithSilent, type Logger, pino } from "pino";
import { writeNow } from "./process.ts";
import { printable } from "./user-error.ts";

/** Lines are written together: a write for each request would be a system call for each. */
const bufferBytes = 4096;
const flushEveryMs = 200;

/** Opens the log of a process. Lines that wait when the process ends are still written, unless it is killed. */
export function openLog(level: LevelWithSilent): Logger {
  return pino({ level, base: null }, { write: process.stdout.isTTY ? writePretty() : writeTogether() });
}

/** Lines that cannot be written, such as on a full disk, are lost: no request waits for the log. */
function writeTogether(): (line: string) => void {
  let waiting = "";
  const flush = () => {
    const lines = waiting;
    waiting = "";
    writeNow(1, lines);
  };
  setInterval(flush, flushEveryMs).unref();
  process.on("exit", flush);
  return (line) => {
    waiting += line;
    if (waiting.length >= bufferBytes) flush();
  };
}

/**
 * Formats each line of pino's JSON: the time of day, the request and its response or the message, then all other
 * fields.
 */
function writePretty(): (line: string) => void {
  return (line) => {
    const { level, time, method, path, status, us, msg, ...rest }: Record<string, unknown> = JSON.parse(line);
    const others = Object.entries(rest).map(([name, value]) => `${name}=${printable(String(value))}`);
    const style = Number(status) >= 500 ? "red" : Number(status) >= 400 ? "yellow" : "green";
    const request = [color(style, String(status)), `${us} µs`.padStart(9), method, printable(String(path))];
    const message = [color("bold", pino.levels.labels[Number(level)]?.toUpperCase() ?? String(level)), msg];
    const clock = new Date(Number(time)).toTimeString().slice(0, 8);
    const parts = [`[${clock}]:`, ...(status === undefined ? message : request), color("gray", others.join(" "))];
    writeNow(1, `${parts.join(" ").trimEnd()}\n`);
  };
}

function color(style: "bold" | "gray" | "green" | "red" | "yellow", text: string): string {
  // styleText itself obeys NO_COLOR.
  return styleText(style, text, { stream: process.stdout });
}
