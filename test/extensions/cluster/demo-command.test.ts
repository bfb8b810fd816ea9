/** What bun run demo --cluster prints to paste does what it says. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { clusterText } from "../../../extensions/cluster/demo.ts";
import { aFolder } from "../../support/folder.ts";

test("the line that shows the cluster reaches the node that it names", async () => {
  const path = join(aFolder(), "db.sqlite");
  const nodes = ["n1", "n2"].map((name) => ({ name, path, url: "http://127.0.0.1:9", pid: 0 }));
  const line = clusterText(nodes, [])
    .split("\n")
    .find((one) => one.endsWith(" cluster status"));
  const shell = Bun.spawn(["sh", "-c", line ?? "false"], {
    cwd: join(import.meta.dir, "../../.."),
    stdout: "pipe",
    stderr: "pipe",
  });
  // No node is there; a wrong setting would have ended it before it looked.
  expect(await shell.stderr.text()).toContain(path);
  expect(await shell.exited).toBe(1);
});
