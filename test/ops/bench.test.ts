/** The bench compares like with like: the other server answers as Leadfile does. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { aFolder } from "../support/folder.ts";
import { start } from "../support/process.ts";

test("both servers of the benchmark give the same responses", async () => {
  const bench = join(import.meta.dir, "../../lab/bench/run.ts");
  const { exited, errors } = start({}, aFolder(), [process.execPath, bench, "--check", "--leads", "2000"]);
  expect([await exited, errors()]).toEqual([
    0,
    expect.stringMatching(/^\d+ questions, equal answers: Leadfile and Hono\.$/m),
  ]);
});
