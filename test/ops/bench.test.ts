/** The bench compares like with like: the other server answers as Leadfile does. */
import { expect, test } from "bun:test";
import { join } from "node:path";

test("both servers of the benchmark give the same responses", async () => {
  const bench = join(import.meta.dir, "../../lab/bench/run.ts");
  const child = Bun.spawn([process.execPath, bench, "--check", "--leads", "2000"], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, status] = await Promise.all([child.stderr.text(), child.exited]);
  expect(said).toMatch(/^\d+ questions, equal answers: Leadfile and Hono\.$/m);
  expect(status).toBe(0);
});
