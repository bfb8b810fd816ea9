/** A check and its result. A check passes if it returns; otherwise it throws that it failed or was skipped. */
import type { Probe } from "./probe.ts";
import { Failed, Skipped } from "./verdict.ts";

export interface Check {
  /** The section of the specification, such as 4.1. */
  readonly section: string;
  readonly title: string;
  readonly run: (probe: Probe) => Promise<void>;
}

/** A check of a section; its title is a sentence about a server that conforms. */
export function check(section: string, title: string, run: Check["run"]): Check {
  return { section, title, run };
}

export interface Result {
  readonly section: string;
  readonly title: string;
  readonly verdict: "passed" | "failed" | "skipped";
  /** Why it failed or was skipped. */
  readonly reason: string | null;
}

export async function runCheck({ section, title, run }: Check, probe: Probe): Promise<Result> {
  try {
    await run(probe);
    return { section, title, verdict: "passed", reason: null };
  } catch (cause) {
    if (cause instanceof Skipped) return { section, title, verdict: "skipped", reason: cause.message };
    const reason = cause instanceof Failed ? cause.message : `the request failed: ${nameOf(cause)}`;
    return { section, title, verdict: "failed", reason };
  }
}

/** The error of a connection may hold the request, and with it the key. So only its code is shown. */
function nameOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "unknown";
  return "code" in cause ? String(cause.code) : cause.name;
}
