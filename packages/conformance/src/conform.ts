/** All checks of a server, section by section of the specification, and the report. */
import { addressChecks } from "./1-address.ts";
import { resourceChecks } from "./2-resources.ts";
import { filterChecks } from "./4-filters.ts";
import { pagingChecks } from "./4-paging.ts";
import { accessChecks } from "./5-authentication.ts";
import { everyAnswerChecks, limitChecks } from "./8-limits.ts";
import { type Check, createProbe, type Keys, type Probe, type ProbeOptions, Skipped } from "./probe.ts";

export type Report = Awaited<ReturnType<typeof conform>>;

/** Checks a server against the specification. With `limits` it uses up a window of the key, and waits for the next. */
export async function conform(url: string, keys: Keys, limits: boolean, world: ProbeOptions) {
  const probe = createProbe(url, keys, limits, world);
  const results: Result[] = [];
  for (const check of allChecks) results.push(await runCheck(check, probe));
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length;
  return {
    url,
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    /** In the order of the sections. */
    checks: results.toSorted((one, other) => Number(one.section) - Number(other.section)),
  };
}

/** In order. Checks of every answer come last, when all answers are there. */
const allChecks: readonly Check[] = [
  ...addressChecks,
  ...resourceChecks,
  ...pagingChecks,
  ...filterChecks,
  ...accessChecks,
  ...limitChecks,
  ...everyAnswerChecks,
];

type Verdict = "passed" | "failed" | "skipped";
type Result = Awaited<ReturnType<typeof runCheck>>;

async function runCheck({ section, title, run }: Check, probe: Probe) {
  /** The reason is that of a failure or a skip. */
  const result = (verdict: Verdict, reason: string | null) => ({ section, title, verdict, reason });
  try {
    await run(probe);
    return result("passed", null);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return result(cause instanceof Skipped ? "skipped" : "failed", reason);
  }
}
