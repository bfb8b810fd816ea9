/** Deliberate defects of single lines, each with the tests that must detect it. */
import { type Attack, type Breakage, broken, type Fault, type Figures } from "../fault.ts";

/** The correct text, the defect that replaces it, and the tests that must detect it, as paths below test/. */
type Mutation = readonly [from: string, to: string, ...tests: string[]];

/**
 * The defects by file, and by what the service does then. Each is a plausible slip of one word or character that no attack
 * has as a broken build.
 */
const mutationsIn: Readonly<Record<string, Readonly<Record<string, Mutation>>>> = {
  "src/db/leads.ts": {
    "a page that begins with the cursor's own lead": [
      "lt(leads.identifiedAt, beforeMs)",
      "lt(leads.identifiedAt, beforeMs) && gte(beforeMs, leads.identifiedAt)",
      "spec/4-1-leads",
    ],
    "has_email=true with the leads that have none": [
      'if (used.includes("has_email")) return half(sql`1`)',
      'if (used.includes("has_email")) return half(sql`0`)',
      "spec/4-1-leads",
    ],
    "since without its own millisecond": [
      "gte(leads.identifiedAt, sinceMs)",
      "gte(leads.identifiedAt, sinceMs) && lt(sinceMs, leads.identifiedAt)",
      "spec/4-1-leads",
    ],
    "one more lead than the limit": ["if (hasMore) rows.pop();", "", "spec/4-1-leads"],
  },
  "src/import/write/merge.ts": {
    "an import that takes what did not fit at once for written": [
      "written += together;",
      "written += together > 0 ? max : 0;",
      "import/model",
    ],
  },
  "src/contract/parameters.ts": {
    "a limit of 101": ["maximum: pageSize.max,", "maximum: pageSize.max + 1,", "spec/4-1-parameters"],
    "bounds rounded down": [
      'null : parseTime(since, "up")',
      'null : parseTime(since, "down")',
      "spec/4-1-leads",
      "spec/4-1-parameters",
    ],
  },
  "src/api/limiter.ts": { "a window of 61": ["if (used >= limit)", "if (used > limit)", "spec/8-limits"] },
  "src/api/auth.ts": {
    "a revoked key that passes": ["isActive(key, context.arrivedMs) ? key", "true ? key", "spec/3-states"],
    "a refused request that counts as used": [
      "    if (!allowed) throw",
      "    if (!allowed) usage.count(credential.number, context.arrivedMs);\n    if (!allowed) throw",
      "spec/7-precedence",
    ],
    "a key that reads the leads of the first account": [
      "return credential;",
      "return { ...credential, account: 1 };",
      "spec/5-isolation",
    ],
    "a lapsed subscription that passes": [
      "if (!credential.subscribed) throw",
      "if (false) throw",
      "spec/5-authentication",
      "spec/3-states",
    ],
  },
  "src/api/leads.ts": { "pages that are kept without their account": ["{key.account} $", "", "spec/5-isolation"] },
  "src/contract/key.ts": {
    "a revoked key that counts in the window": ["return revokedMs === null && ", "return ", "spec/8-limits"],
    "a key without its checksum": [
      "key.slice(-checksumLength) === checksum(key.slice(0, -checksumLength))",
      "true",
      "security/keys",
      "cli/key",
    ],
  },
  "src/privacy/sent/outbox.ts": {
    "usage that is not told while it is written": [
      "[...flushing.days, ...pending.days]",
      "[...pending.days]",
      "spec/4-3-usage",
      "db/usage-writing",
    ],
  },
  "src/db/locks.ts": {
    "a write of usage that waits for others": [
      'client.run("PRAGMA busy_timeout = 0")',
      'client.run("PRAGMA busy_timeout = 9000")',
      "db/usage-writing",
    ],
    "a lock that others may open": ['"wx", 0o600', '"wx", 0o644', "db/locks"],
  },
  "src/import/write/lead-writer.ts": {
    "leads that get the time of import counted as moved": [
      "(lead.identifiedMs !== null && at !== wanted)",
      "(lead.identifiedMs === null || at !== wanted)",
      "import/model",
    ],
  },
  "src/import/map/identity.ts": {
    "an id that forgets its account": ["JSON.stringify([account, ", "JSON.stringify([", "import/identity"],
  },
  "src/contract/stored-lead.ts": {
    "a city compared by its case": ['.normalize("NFC").toLowerCase()', '.normalize("NFC")', "spec/4-1-leads"],
  },
  "src/import/map/values/phones.ts": {
    "a phone with the digits of its extension": ['.replace(extension, "")', "", "import/phones"],
  },
  "src/api/errors.ts": {
    "a 429 without its header": [
      '{ "Retry-After": String(retryAfterSeconds) } : {}',
      "{} : {}",
      "spec/8-limits",
      "spec/7-errors",
    ],
    "a cause shown to the client": [
      "return plainError(isDatabaseFailure(thrown)",
      'if (isDatabaseFailure(thrown)) return new ApiError("query_failed", innermost(thrown), { cause: thrown });\n  return plainError(isDatabaseFailure(thrown)',
      "spec/7-errors",
    ],
  },
  "src/api/host.ts": {
    "a redirect to the host that the client named": [
      "const url = baseUrl + context.path",
      'const url = "http://" + context.request.headers.get("host") + context.path',
      "spec/1-host",
    ],
  },
  "src/api/ops/access-log.ts": {
    "a path in the log as it came": ["path: context.route ?? safePath(context.path)", "path: context.path", "ops/log"],
  },
  "src/db/file-watch.ts": {
    "a file that is not looked at": [
      "if (now.ino !== opened.ino || now.dev !== opened.dev) {",
      "if (now.dev !== opened.dev) {",
      "spec/7-errors",
    ],
  },
  "src/cli/lead/export.ts": {
    "a formula that is not guarded": ["safe && /^", "safe && false && /^", "cli/lead-export"],
  },
};

const testsFor = new Map<Breakage, readonly string[]>();
for (const [file, lines] of Object.entries(mutationsIn)) {
  for (const [name, [from, to, ...tests]] of Object.entries(lines)) testsFor.set(broken(name, file, from, to), tests);
}
const allTests = [...new Set([...testsFor.values()].flat())];

export const mutations: Fault = {
  name: "broken lines",
  attack: "a line of the product is broken, and the tests that should notice are run; files of tests",
  promise: "the tests pass, and one of them fails for each broken line",
  small: allTests.length,
  full: allTests.length,
  breakages: [...testsFor.keys()],
  run,
};

async function run({ build, breakage, progress, expect }: Attack): Promise<Figures> {
  // A build that does not compile would fail every test, whatever the test checks.
  if (!(await compiles(build))) return { compiles: "no" };
  const tests = (breakage && testsFor.get(breakage)) ?? allTests;
  for (const [number, test] of tests.entries()) {
    const passes = await succeeds(build, [process.execPath, "test", `test/${test}.test.ts`]);
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
