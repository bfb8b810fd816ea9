/** All checks of a server, section by section of the specification, and the report. */
import { addressChecks } from "./1-address.ts";
import { resourceChecks } from "./2-resources.ts";
import { filterChecks } from "./4-filters.ts";
import { pagingChecks } from "./4-paging.ts";
import { accessChecks } from "./5-authentication.ts";
import { everyAnswerChecks, limitChecks } from "./8-limits.ts";
import { type Check, type Result, runCheck } from "./check.ts";
import { createProbe, type Keys, type ProbeOptions } from "./probe.ts";
import { skip } from "./verdict.ts";

export interface Report {
  readonly url: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** In the order of the sections. */
  readonly checks: readonly Result[];
}

/** Checks a server against the specification. With `limits` it uses up a window of the key, and waits for the next. */
export async function conform(url: string, keys: Keys, limits: boolean, world: ProbeOptions): Promise<Report> {
  const probe = createProbe(url, keys, world);
  const results: Result[] = [];
  for (const check of allChecks(limits)) results.push(await runCheck(check, probe));
  const count = (verdict: Result["verdict"]) => results.filter((result) => result.verdict === verdict).length;
  return {
    url,
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    checks: results.toSorted((one, other) => Number(one.section) - Number(other.section)),
  };
}

/** In order. Checks of every answer come last, when all answers are there. */
function allChecks(limits: boolean): readonly Check[] {
  const without = limitChecks.map((check) => ({
    ...check,
    run: async () => skip("--limits uses up a window for this"),
  }));
  return [
    ...addressChecks,
    ...resourceChecks,
    ...pagingChecks,
    ...filterChecks,
    ...accessChecks,
    ...(limits ? limitChecks : without),
    ...everyAnswerChecks,
  ];
}
