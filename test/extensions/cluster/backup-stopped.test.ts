/** A backup of a cluster that is asked to stop. */
import { expect, onTestFinished, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../../support/admin.ts";
import { until } from "../../support/eventually.ts";

test("a signal ends a backup of a cluster while the node still sends it, and no part of it is left", async () => {
  const whole = anAdmin();
  await whole.import(`date,pixel_id,email\n${"2026-01-31,px,d@example.com\n".repeat(20_000)}`);
  const file = join(whole.folder, "db.sqlite");
  await whole.run("backup", file);
  // By which a command knows the folder of a node.
  whole.put("raft.db", "");
  const half = readFileSync(file).subarray(0, 1 << 20);
  const send = (controller: ReadableStreamDefaultController) => controller.enqueue(half);
  const backup = () => new Response(new ReadableStream({ start: send }));
  const answered = JSON.stringify({ results: [{ values: [[null]] }] });
  const node = Bun.serve({
    port: 0,
    fetch: ({ url }) => (url.includes("/db/backup") ? backup() : new Response(answered)),
  });
  onTestFinished(() => node.stop(true));
  const admin = anAdmin([], { CLUSTER: node.url.origin, NODE_NAME: "n1", DATABASE_PATH: file });
  const filesIn = () => readdirSync(admin.folder).filter((name) => !/^\.bun|-(?:wal|shm)$/.test(name));
  const before = filesIn();
  const child = admin.start("backup", join(admin.folder, "copy.db"));
  await until(() => filesIn().length > before.length, 1);
  child.kill("SIGINT");
  expect([await child.exited, await child.stderr.text()]).toEqual([
    130,
    "Stopped. There is no backup, and nothing is left of what was copied. Run it again to complete it.\n",
  ]);
  expect(filesIn()).toEqual(before);
});
