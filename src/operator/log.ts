/** The log on standard output: lines for a person on a terminal, else JSON, written together a few times a second. */
import { type Logger, pino } from "pino";
import { printable } from "./printable.ts";

export const logLevels = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof logLevels)[number];

/** A line of its own for each request would be a call to the system for each. */
const togetherBytes = 4096;
const atTheLatestMs = 200;

/** The log of a process; what is waiting when the process ends is still written, unless it is killed. */
export function openLog(level: LogLevel): Logger {
  if (process.stdout.isTTY) return pino({ level, base: null }, { write: writePretty() });
  const destination = pino.destination({ dest: 1, minLength: togetherBytes, sync: true });
  setInterval(() => destination.flush(), atTheLatestMs).unref();
  process.on("exit", () => destination.flushSync());
  return pino({ level, base: null }, destination);
}

/** Time of day, then what a request was and became; or the message of another entry; then the rest by name. */
function writePretty(): (line: string) => void {
  // Loaded for a terminal alone: a service starts a tenth sooner without it.
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
  return (line) => void process.stdout.write(pretty(line));
}
