/** The process that a program of packages/ runs in: its input, messages, signals, and failures. */
import { writeSync } from "node:fs";

/** The parts of the process that the core and its tests replace. */
export interface Host {
  readonly standardInput: () => AsyncIterable<Uint8Array>;
  readonly now: () => number;
}

export const thisProcess: Host = { standardInput: () => Bun.stdin.stream(), now: Date.now };

/** A failure that ends a program with one line for a person, without a stack trace. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    message: string,
    /** 1: refused or failed. 2: the command or a setting is written wrong. */
    readonly status: 1 | 2 = 1,
  ) {
    super(message);
  }
}

/**
 * The keys, one per line, from LEADFILE_KEY or standard input; the first one is not empty. A person ends the first line with
 * Enter, or all of them with Ctrl-D. A key is no argument, because other users see those.
 */
export async function readKeys(host: Host, endsWith: "Enter" | "Enter and Ctrl-D"): Promise<string[]> {
  const text = process.env["LEADFILE_KEY"]?.trim() || (await readInput(host, endsWith));
  const keys = text.split("\n").map((line) => line.trim());
  if (keys[0] !== "") return keys;
  throw new Refusal("No key was given. Set LEADFILE_KEY, or give the key on standard input.", 2);
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

/** The code of a system error, such as ENOSPC, which contains no path and no value; null if it has none. */
export function systemCode(cause: unknown): string | null {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : null;
}

/** A text with a ? for each control character, which a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?");
}
