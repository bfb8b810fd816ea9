/** Lines of the product as they must not be, each with the tests that should notice. */
import { type Attack, type Breakage, broken, type Fault, type Figures } from "../fault.ts";

interface Mutation extends Breakage {
  /** The tests that should notice it: files, or `FILE -t PART OF A NAME`. */
  readonly tests: readonly string[];
}

const line = (name: string, file: string, from: string, to: string, ...tests: string[]): Mutation => ({
  ...broken(name, file, from, to),
  tests,
});

/** Each is one character or word that a tired person could have written, and that no attack has as a broken build. */
const lines: readonly Mutation[] = [
  line(
    "a page that begins with the cursor's own lead",
    "src/db/leads.ts",
    "lt(leads.identifiedAt, beforeMs)",
    "lt(leads.identifiedAt, beforeMs) && gte(beforeMs, leads.identifiedAt)",
    "test/spec/4-1-leads.test.ts",
  ),
  line(
    "has_email=true with the leads that have none",
    "src/db/leads.ts",
    'if (filters.includes("has_email")) return half(sql`1`)',
    'if (filters.includes("has_email")) return half(sql`0`)',
    "test/spec/4-1-leads.test.ts",
  ),
  line(
    "since without its own millisecond",
    "src/db/leads.ts",
    "gte(leads.identifiedAt, sinceMs)",
    "gte(leads.identifiedAt, sinceMs) && lt(sinceMs, leads.identifiedAt)",
    "test/spec/4-1-leads.test.ts",
  ),
  line(
    "an import that takes what did not fit at once for written",
    "src/import/write/merge.ts",
    "if (written === max) return written;",
    "if (written > 0) return max;",
    "test/import/model.test.ts",
  ),
  line(
    "one more lead than the limit",
    "src/db/leads.ts",
    "if (hasMore) rows.pop();",
    "",
    "test/spec/4-1-leads.test.ts",
  ),
  line(
    "a limit of 101",
    "src/contract/parameters.ts",
    "maximum: pageSize.max,",
    "maximum: pageSize.max + 1,",
    "test/spec/4-1-parameters.test.ts",
  ),
  line(
    "bounds rounded down",
    "src/contract/parameters.ts",
    'null : parseTime(since, "up")',
    'null : parseTime(since, "down")',
    "test/spec/4-1-leads.test.ts",
    "test/spec/4-1-parameters.test.ts",
  ),
  line("a window of 61", "src/limiter.ts", "if (used >= limit)", "if (used > limit)", "test/spec/8-limits.test.ts"),
  line(
    "a refused request that counts as used",
    "src/api/app.ts",
    "    if (!allowed) throw",
    "    if (!allowed) store.usage.count(credential.number, call.arrivedMs);\n    if (!allowed) throw",
    "test/spec/8-limits.test.ts",
    "test/spec/4-3-usage.test.ts",
  ),
  line(
    "a revoked key that passes",
    "src/api/auth.ts",
    "isActive(key, call.arrivedMs) ? key",
    "true ? key",
    "test/spec/3-states.test.ts",
  ),
  line(
    "a key that reads the leads of the first account",
    "src/api/app.ts",
    "return credential;",
    "return { ...credential, account: 1 };",
    "test/spec/5-isolation.test.ts",
  ),
  line(
    "pages that are kept without their account",
    "src/api/leads.ts",
    "{key.account} $",
    "",
    "test/spec/5-isolation.test.ts",
  ),
  line(
    "a lapsed subscription that passes",
    "src/api/app.ts",
    "if (!credential.subscribed) throw",
    "if (false) throw",
    "test/spec/5-authentication.test.ts",
    "test/spec/3-states.test.ts",
  ),
  line(
    "a revoked key that counts in the window",
    "src/contract/key.ts",
    "return revokedMs === null && ",
    "return ",
    "test/spec/8-limits.test.ts",
  ),
  line(
    "a key without its checksum",
    "src/contract/key.ts",
    "key.slice(-checksumLength) === checksum(key.slice(0, -checksumLength))",
    "true",
    "test/security/keys.test.ts",
    "test/cli/key.test.ts",
  ),
  line(
    "usage that is not told while it is written",
    "src/db/usage.ts",
    "[...leaving, ...pending]",
    "[...pending]",
    "test/spec/4-3-usage.test.ts",
    "test/db/usage-writing.test.ts",
  ),
  line(
    "a write of usage that waits for others",
    "src/db/locks.ts",
    'client.run("PRAGMA busy_timeout = 0")',
    'client.run("PRAGMA busy_timeout = 9000")',
    "test/db/usage-writing.test.ts",
  ),
  line(
    "a file that others may read",
    "src/db/locks.ts",
    "process.umask(0o077)",
    "process.umask(0o022)",
    "test/db/openings.test.ts",
  ),
  line(
    "leads that get the time of import counted as moved",
    "src/import/write/lead-writer.ts",
    "(lead.identifiedMs !== null && at !== wanted)",
    "(lead.identifiedMs === null || at !== wanted)",
    "test/import/model.test.ts",
  ),
  line(
    "an id that forgets its account",
    "src/import/map/identity.ts",
    "JSON.stringify([account, ",
    "JSON.stringify([",
    "test/import/identity.test.ts",
  ),
  line(
    "a city compared by its case",
    "src/contract/stored-lead.ts",
    '.normalize("NFC").toLowerCase()',
    '.normalize("NFC")',
    "test/spec/4-1-leads.test.ts",
  ),
  line(
    "a phone with the digits of its extension",
    "src/import/map/values/phones.ts",
    '.replace(extension, "")',
    "",
    "test/import/phones.test.ts",
  ),
  line(
    "a 429 without its header",
    "src/api/errors.ts",
    '{ "Retry-After": String(retryAfterSeconds) } : {}',
    "{} : {}",
    "test/spec/8-limits.test.ts",
    "test/spec/7-errors.test.ts",
  ),
  line(
    "a redirect to the host that the client named",
    "src/api/host.ts",
    "const url = baseUrl + call.path",
    'const url = "http://" + call.request.headers.get("host") + call.path',
    "test/spec/1-host.test.ts",
  ),
  line(
    "a cause shown to the client",
    "src/api/errors.ts",
    "return plainError(isDatabaseFailure(thrown)",
    'if (isDatabaseFailure(thrown)) return new ApiError("query_failed", innermost(thrown), { cause: thrown });\n  return plainError(isDatabaseFailure(thrown)',
    "test/spec/7-errors.test.ts",
  ),
  line(
    "a path in the log as it came",
    "src/api/reply.ts",
    "path: call.route ?? safePath(call.path)",
    "path: call.path",
    "test/ops/log.test.ts",
  ),
  line(
    "a file that is not looked at",
    "src/db/served-file.ts",
    "if (now.ino !== opened.ino || now.dev !== opened.dev) {",
    "if (now.dev !== opened.dev) {",
    "test/spec/7-errors.test.ts",
  ),
  line(
    "a formula that is not guarded",
    "src/cli/lead/export.ts",
    "safe && /^",
    "safe && false && /^",
    "test/cli/lead-export.test.ts",
  ),
];

const allTests = [...new Set(lines.flatMap(({ tests }) => tests))];

export const mutations: Fault = {
  name: "broken lines",
  attack: "a line of the product is broken, and the tests that should notice are run; files of tests",
  promise: "the tests pass, and one of them fails for each broken line",
  small: allTests.length,
  full: allTests.length,
  breakages: lines,
  run,
};

async function run({ build, breakage, progress, expect }: Attack): Promise<Figures> {
  // A name that does not exist would fail every test, whatever that test looks at.
  if (!(await compiles(build))) return { compiles: "no" };
  const tests = lines.find((mutation) => mutation === breakage)?.tests ?? allTests;
  for (const [number, test] of tests.entries()) {
    const [path = "", ...names] = test.split(" -t ");
    const command = [process.execPath, "test", path, ...names.flatMap((name) => ["-t", name])];
    const passes = await succeeds(build, command);
    expect(passes, () => `${test} fails`);
    progress(number + 1);
  }
  return {};
}

function compiles(build: string): Promise<boolean> {
  const lenient = ["--noUnusedLocals", "false", "--noUnusedParameters", "false", "--allowUnreachableCode", "true"];
  return succeeds(build, ["node_modules/.bin/tsc", "--noEmit", ...lenient]);
}

async function succeeds(build: string, command: string[]): Promise<boolean> {
  const child = Bun.spawn(command, { cwd: build, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  return (await child.exited) === 0;
}
