/** The log: JSON lines on standard output, written together a few times a second. */
import { type Logger, pino } from "pino";
import type { LogLevel } from "./config.ts";

/** A line of its own for each request would be a call to the system for each. */
const togetherBytes = 4096;
const atTheLatestMs = 200;

/** The log of a process; what is waiting when the process ends is still written, unless it is killed. */
export function openLog(level: LogLevel): Logger {
  const destination = pino.destination({ dest: 1, minLength: togetherBytes, sync: true });
  setInterval(() => destination.flush(), atTheLatestMs).unref();
  process.on("exit", () => destination.flushSync());
  return pino({ level, base: null }, destination);
}
