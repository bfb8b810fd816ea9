/** The log on standard output: text on a terminal, else JSON that is written a few times a second. */
import { type Logger, pino } from "pino";
import { printable } from "./printable.ts";
import { writeNow } from "./standard-streams.ts";

export const logLevels = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Lines are written together: a write for each request would be a system call for each. */
const bufferBytes = 4096;
const flushEveryMs = 200;

/** Opens the log of a process. Lines that wait when the process ends are still written, unless it is killed. */
export function openLog(level: LogLevel): Logger {
  return pino({ level, base: null }, { write: process.stdout.isTTY ? writePretty() : writeTogether() });
}

/** Where lines cannot be written, as on a full disk, they are lost: nobody's request must wait for the log. */
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

/** The time of day, then the request with its answer, or the message of another entry, then all other fields. */
function writePretty(): (line: string) => void {
  // Loaded only for a terminal: without it a service starts a tenth sooner.
  const { isColorSupported, prettyFactory }: typeof import("pino-pretty") = require("pino-pretty");
  const pretty = prettyFactory({
    colorize: isColorSupported,
    translateTime: "SYS:HH:MM:ss",
    ignore: "level",
    hideObject: true,
    messageFormat: (entry, messageKey, level, { colors }) => {
      const { level: _, time, method, path, status, us, [messageKey]: message, ...rest } = entry;
      const others = Object.entries(rest).map(([name, value]) => `${name}=${printable(String(value))}`);
      const colour = Number(status) >= 500 ? colors.red : Number(status) >= 400 ? colors.yellow : colors.green;
      const asked = [colour(String(status)), `${us} µs`.padStart(9), method, printable(String(path))];
      const said = [colors.bold(level), message];
      return [...(status === undefined ? said : asked), colors.gray(others.join(" "))].join(" ");
    },
  });
  return (line) => void writeNow(1, pretty(line));
}
