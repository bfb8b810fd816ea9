/** Whether the tests notice lines that are broken one at a time. */
import { rmSync } from "node:fs";
import { breakBuild, type Patch } from "./build.ts";
import { mutations } from "./mutations.ts";

export interface Noticed {
  readonly tried: number;
  /** What no test noticed. */
  readonly unnoticed: readonly string[];
}

/** Tries all of them, and says each. A test that fails without a broken line as well notices nothing. */
export async function tryMutations(say: (line: string) => void): Promise<Noticed> {
  const asked = [...new Set(mutations.flatMap(({ tests }) => tests))];
  const failing = await failingOf(asked, []);
  for (const test of failing) say(`FAILS WITHOUT A BROKEN LINE: ${test}`);
  const unnoticed: string[] = [];
  for (const { what, patch, tests } of mutations) {
    const telling = tests.filter((test) => !failing.includes(test));
    const [test] = await failingOf(telling, [patch], 1);
    say(test === undefined ? `NOT NOTICED: ${what}` : `noticed: ${what} (${test})`);
    if (test === undefined) unnoticed.push(what);
  }
  return { tried: mutations.length, unnoticed };
}

/** The tests that fail on a copy of the product with some lines broken, or the first few of them. */
async function failingOf(tests: readonly string[], patches: readonly Patch[], most = tests.length): Promise<string[]> {
  const build = breakBuild(patches);
  const failing: string[] = [];
  try {
    for (const test of tests) {
      if (failing.length < most && !(await passes(build, test))) failing.push(test);
    }
    return failing;
  } finally {
    rmSync(build, { recursive: true, force: true });
  }
}

async function passes(build: string, test: string): Promise<boolean> {
  const child = Bun.spawn([process.execPath, "test", ...test.split(" ")], {
    cwd: build,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  return (await child.exited) === 0;
}
