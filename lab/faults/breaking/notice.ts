/** Breaks lines one at a time, and runs the tests that should notice. */
import { rmSync } from "node:fs";
import { breakBuild, type Patch } from "./build.ts";
import { mutations } from "./mutations.ts";

export interface Noticed {
  readonly tried: number;
  /** The lines that no test noticed. */
  readonly unnoticed: readonly string[];
}

/** Tries all of them, and says each. A test that fails without a broken line as well notices nothing. */
export async function tryMutations(say: (line: string) => void): Promise<Noticed> {
  const asked = [...new Set(mutations.flatMap(({ tests }) => tests))];
  const failing: string[] = [];
  await withBuild([], async (build) => {
    for (const test of asked) if (!(await passes(build, test))) failing.push(test);
  });
  for (const test of failing) say(`FAILS WITHOUT A BROKEN LINE: ${test}`);
  const unnoticed: string[] = [];
  for (const { what, patch, tests } of mutations) {
    const telling = tests.filter((test) => !failing.includes(test));
    const noticed = await withBuild([patch], (build) => noticedBy(build, telling));
    say(noticed === null ? `NOT NOTICED: ${what}` : `noticed: ${what} (${noticed})`);
    if (noticed === null) unnoticed.push(what);
  }
  return { tried: mutations.length, unnoticed };
}

async function withBuild<Result>(patches: readonly Patch[], work: (build: string) => Promise<Result>): Promise<Result> {
  const build = breakBuild(patches);
  try {
    return await work(build);
  } finally {
    rmSync(build, { recursive: true, force: true });
  }
}

/** The first test that fails; null when none does, or when the line is no mistake that anybody could run. */
async function noticedBy(build: string, tests: readonly string[]): Promise<string | null> {
  if (!(await compiles(build))) return null;
  for (const test of tests) if (!(await passes(build, test))) return test;
  return null;
}

/** A name that does not exist would fail every test, whatever that test looks at. */
function compiles(build: string): Promise<boolean> {
  const lenient = ["--noUnusedLocals", "false", "--noUnusedParameters", "false", "--allowUnreachableCode", "true"];
  return succeeds(build, ["node_modules/.bin/tsc", "--noEmit", ...lenient]);
}

function passes(build: string, test: string): Promise<boolean> {
  const [path = "", ...names] = test.split(" -t ");
  return succeeds(build, [process.execPath, "test", path, ...names.flatMap((name) => ["-t", name])]);
}

async function succeeds(build: string, command: string[]): Promise<boolean> {
  const child = Bun.spawn(command, { cwd: build, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  return (await child.exited) === 0;
}
