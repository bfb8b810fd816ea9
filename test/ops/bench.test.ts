/** The bench compares like with like: what takes part answers as Leadfile does. */
import { expect, test } from "bun:test";
import { join } from "node:path";

test("every server of the benchmark gives the same responses as Leadfile, or says why it is missing", async () => {
  const bench = join(import.meta.dir, "../../lab/bench/run.ts");
  const child = Bun.spawn([process.execPath, bench, "--check", "--leads", "2000"], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, status] = await Promise.all([child.stderr.text(), child.exited]);
  const skipped = said.split("\n").filter((line) => line.startsWith("Skipped"));
  if (skipped.length > 0) process.stderr.write(`${skipped.join("\n")}\n`);
  expect(said).toMatch(/^\d+ questions, equal answers: Leadfile\b/m);
  expect(status).toBe(0);
  for (const peer of ["Hono", "Fastify"]) {
    expect(said).toMatch(new RegExp(`(?:equal answers: .*|^Skipped )${peer} \\+ [^:]+`, "m"));
  }
});
