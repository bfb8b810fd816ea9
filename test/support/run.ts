/** The setup of every test file: bunfig.toml loads it first. */
import { afterAll } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plugin } from "bun";

// Plain `bun test` installs nothing, and without packages every file would fail for its own reason.
if (!existsSync(join(import.meta.dir, "../../node_modules"))) {
  process.stderr.write("The packages are not installed yet: run `bun install`, or `bun run test`, which does that.\n");
  process.exit(1);
}

// A test may start processes and a browser, for which a minute is not enough on a busy machine. bunfig.toml has no
// setting for it, and Bun forgets a default at the end of each file: so each file begins with it, in its first line.
plugin({
  name: "five minutes for every test",
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, ({ path }) => ({ loader: "ts", contents: withTime(path) }));
  },
});

const withTime = (path: string) =>
  `import { setDefaultTimeout as everyTestMayTake } from "bun:test"; everyTestMayTake(300_000); ${readFileSync(path, "utf8")}`;

// On a busy machine a property ends with what it has tried so far, long before its test is out of time.
const { configureGlobal } = await import("fast-check");
configureGlobal({ interruptAfterTimeLimit: 60_000 });

const folders: string[] = [];

// Here it comes after the last file, or in parallel after each. Bun tells nobody that the process of the tests ends.
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new empty folder for several tests; it is there until the last test of the file is over, at least. */
export function aSharedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "leadfile-run-"));
  folders.push(folder);
  return folder;
}
