/** The process that a program of packages/ runs in: its input, messages, and signals. */
import { existsSync, readFileSync, writeSync } from "node:fs";
import { SettingError } from "../src/errors.ts";

/** The parts of the process that the core and its tests replace. */
export interface Host {
  readonly standardInput: () => AsyncIterable<Uint8Array>;
  readonly now: () => number;
}

export const thisProcess: Host = { standardInput: () => Bun.stdin.stream(), now: Date.now };

/**
 * The keys, one per line, from LEADFILE_KEY or standard input; the first one is not empty. A person ends the first line with
 * Enter, or all of them with Ctrl-D. A key is no argument, because other users see those.
 */
export async function readKeys(host: Host, endsWith: "Enter" | "Enter and Ctrl-D"): Promise<string[]> {
  const text = process.env["LEADFILE_KEY"]?.trim() || (await readInput(host, endsWith));
  const keys = text.split("\n").map((line) => line.trim());
  if (keys[0] !== "") return keys;
  throw new SettingError("No key was given. Set LEADFILE_KEY, or give the key on standard input.");
}

async function readInput({ standardInput }: Host, endsWith: "Enter" | "Enter and Ctrl-D"): Promise<string> {
  if (process.stdin.isTTY && process.stderr.isTTY) {
    say(`Waiting for the key: type or paste it, then press ${endsWith}.`);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of standardInput()) {
    chunks.push(chunk);
    if (endsWith === "Enter" && chunk.includes(10)) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Removes the variables that Bun took from a .env of the folder: the author of that file would choose the proxy, and get the
 * key. TLS certificates are verified in any case. `bun admin` does the same before it runs a command.
 */
export function forgetFolder(): void {
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  if (process.execArgv.includes("--no-env-file")) return;
  if (!existsSync("/proc/self/environ")) throw new SettingError("Start this program as bun --no-env-file FILE URL.");
  const started = readFileSync("/proc/self/environ", "utf8").split("\0");
  const names = new Set(started.map((pair) => pair.split("=", 1)[0]));
  for (const name of Object.keys(process.env)) if (!names.has(name)) delete process.env[name];
}

/** Writes a message to standard error before it returns, so that the end of the process does not lose it. */
export function say(text: string): void {
  try {
    writeSync(2, `${text}\n`);
  } catch {
    // Nobody reads it.
  }
}

/** A signal that the first SIGINT or SIGTERM aborts. The second one ends the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  function abort(): void {
    process.off("SIGINT", abort).off("SIGTERM", abort);
    stop.abort();
  }
  process.on("SIGINT", abort).on("SIGTERM", abort);
  return stop.signal;
}

/** A time as messages show it: UTC, to the second. */
export function clockTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** A text with a ? for each control character, which a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?");
}
