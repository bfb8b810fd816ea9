/** A process of imports for tests, which does what the name of the file says. */
import type { ImportNews, ImportOrder } from "../../../../extensions/delivery/inbox/import-process.ts";

const answer = (news: ImportNews) => process.send?.(news);

process.on("message", async ({ file }: ImportOrder) => {
  if (file.includes("endless") || (file.includes("deliveries") && (await Bun.file(file).text()).includes("endless"))) {
    // Like an endless computation, which does not answer either.
    Bun.sleepSync(600_000);
  }
  if (file.includes("fatal")) process.kill(process.pid, "SIGKILL");
  if (file.includes("waits")) {
    answer("read");
    await Bun.sleep(1500);
  }
  answer({ kind: "done", rejected: 0 });
});
