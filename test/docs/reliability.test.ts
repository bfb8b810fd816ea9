/** The documents list exactly the existing attacks and defenses. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brokenFile, project } from "../../lab/faults/breaking/build.ts";
import { faults, faultsIn } from "../../lab/faults/faults.ts";

const reliability = readFileSync(join(project, "docs/reliability.md"), "utf8");
const security = readFileSync(join(project, "SECURITY.md"), "utf8");

test("the reliability page has a row for every attack, and each attack has broken builds", () => {
  const rows = [...reliability.matchAll(/^\| ([^|]+) \| [^|]+ \| [^|]+ \|$/gm)].map(([, name = ""]) => name);
  expect(rows.slice(1)).toEqual(faults.map(({ name }) => name));
  for (const { breakages } of faults) expect(breakages).not.toEqual([]);
  expect(reliability).toContain(`| broken lines | ${faultsIn.lines[0]?.breakages.length} lines, one at a time |`);
});

test("every file that the page on security names as a test is there", () => {
  const named = [...security.matchAll(/`((?:test|lab|\.ci)\/[^`]+)`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(project, path)))).toEqual([]);
});

test("every line to break on purpose exists exactly once", () => {
  const patches = faults.flatMap((fault) => fault.breakages.flatMap((breakage) => breakage.patches));
  for (const patch of patches) brokenFile(patch);
});
