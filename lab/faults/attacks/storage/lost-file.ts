/** The file of a running server is moved, replaced or overwritten, or its log is removed. */
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { someLeads } from "../../../../test/support/builders.ts";
import { makeAccount, prepare } from "../../product/contents.ts";
import { startServer } from "../../product/program.ts";
import { askOften, expectAllWell, type Scene } from "./served-file.ts";

/** Every request fails while the file is away, and none when it is back. */
export async function takenAway(scene: Scene): Promise<void> {
  const aside = `${scene.file}.aside`;
  renameSync(scene.file, aside);
  const failed = await askOften(scene, 20);
  scene.expect(failed === 20, () => `only ${failed} of 20 requests failed while the file was away`);
  renameSync(aside, scene.file);
  await expectAllWell(scene, "after it was put back");
}

/** The same with another file in its place. */
export async function replaced(scene: Scene): Promise<void> {
  const { file, folder, expect } = scene;
  const other = join(folder, "other.db");
  prepare(other, (store) => makeAccount(store, "other", someLeads(3)));
  renameSync(file, `${file}.aside`);
  renameSync(other, file);
  const failed = await askOften(scene, 20);
  expect(failed === 20, () => `only ${failed} of 20 requests failed while another file was there`);
  renameSync(`${file}.aside`, file);
  await expectAllWell(scene, "after it was put back");
}

/** No page is served from bytes that are not ours, and no server starts on them. */
export async function overwritten(scene: Scene): Promise<void> {
  const { build, file, random, expect } = scene;
  // By another process, as it would be: here it would drop the locks of SQLite.
  const bytes = statSync(file).size;
  const noise = join(scene.folder, "noise");
  writeFileSync(noise, random.bytes(4096));
  await Bun.spawn(["dd", `if=${noise}`, `of=${file}`, "conv=notrunc", "status=none"]).exited;
  const failed = await askOften(scene, 20);
  expect(failed === 20, () => `only ${failed} of 20 requests failed after ${bytes} bytes were overwritten`);
  // One server at a time has a file, and this one has seen enough.
  await scene.server.end("SIGKILL");
  const start = await startServer(build, file).then(
    async (server) => `it listened, and ended with ${await server.end("SIGKILL")}`,
    (cause: Error) => cause.message,
  );
  expect(/is not a Leadfile database/.test(start), () => `a start on it said: ${start}`);
}

/** Every request fails without the log; a restart makes a new one. */
export async function logRemoved(scene: Scene): Promise<void> {
  const { build, file, expect } = scene;
  for (const suffix of scene.random.pick([["-wal", "-shm"], ["-wal"], ["-shm"]])) rmSync(file + suffix);
  const failed = await askOften(scene, 20);
  expect(failed === 20, () => `only ${failed} of 20 requests failed without the log`);
  await scene.server.end("SIGKILL");
  const server = await startServer(build, file);
  await expectAllWell({ ...scene, server }, "after a restart");
  await server.end();
}
