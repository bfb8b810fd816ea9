/** Calls of the system that fail, by strace: reading, writing, syncing and opening. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentsOf, isWhole, look } from "../../product/contents.ts";
import { admin, type Server } from "../../product/program.ts";
import { aScene, askOften, expectAllWell, expectRefusal, makeKeyCommand, type Scene } from "./served-file.ts";

const largeCount = 45_000;
const importedRows = 300;

/** The system gives an error to every such call of the running server, then no more. */
export async function duringFault(scene: Scene, injected: string, wanted: "some fail" | "none fails"): Promise<void> {
  // Long enough for counts of usage to be written as well.
  const failed = await injecting(scene.server, injected, () => askOften(scene, 300));
  scene.expect(wanted === "none fails" ? failed === 0 : failed > 0, () => `${failed} of 300 requests failed`);
}

async function injecting<Result>(server: Server, injected: string, work: () => Promise<Result>): Promise<Result> {
  const traced = ["-e", `trace=${injected.split(":")[0]}`, "-e", `inject=${injected}`];
  const tracer = Bun.spawn(["strace", "-f", "-o", "/dev/null", "-p", String(server.pid), ...traced], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  await tracer.stderr.getReader().read();
  const result = await work();
  tracer.kill("SIGINT");
  await tracer.exited;
  return result;
}

/** The file is larger than the 32 MB of it that the server keeps in memory, so that its pages are read. */
export async function failingUnderLoad({ build, folder, random, expect }: Scene): Promise<void> {
  const place = join(folder, "large");
  mkdirSync(place);
  const scene = await aScene(build, place, random, expect, largeCount);
  const { server } = scene;
  const askAtOnce = async (times: number) => {
    const failures = await Promise.all(Array.from({ length: 16 }, () => askOften(scene, times)));
    return failures.reduce((all, failed) => all + failed, 0);
  };
  try {
    const early = await askAtOnce(150);
    expect(early === 0, () => `${early} requests failed before anything did`);
    const failed = await injecting(server, "pread64:error=EIO:when=7+7", () => askAtOnce(60));
    expect(failed > 0, () => "no request failed");
    await expectAllWell(scene, "after it");
    const ended = await server.end();
    expect(ended === 0, () => `the server ended with ${ended}: ${server.errors()}`);
  } finally {
    await server.end("SIGKILL");
  }
}

/** A command that meets the failure says so, and works when it is over. */
export async function refusedCommand(scene: Scene, injection: readonly string[], says: RegExp): Promise<void> {
  const [inject = "", ...more] = injection;
  const call = inject.slice("inject=".length).split(":")[0];
  const tracer = ["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject, ...more];
  expectRefusal(scene, await admin(scene.build, scene.file, makeKeyCommand, tracer), says);
  const again = await admin(scene.build, scene.file, makeKeyCommand);
  scene.expect(again.status === 0, () => `afterwards the command ended with ${again.status}: ${again.stderr}`);
}

/** The disk is full from some write on: the import fails, and its re-run brings every row. */
export async function importOnFullDisk(scene: Scene): Promise<void> {
  const { build, folder, file, random, expect } = scene;
  const exported = join(folder, "export.csv");
  const rows = Array.from({ length: importedRows }, (_, n) => `2026-03-01,full${n}@example.com`);
  writeFileSync(exported, `date,email\n${rows.join("\n")}\n`);
  const args = ["lead", "import", "acme", exported, "--pixel", "px_site", "--json"];
  const from = 2 + random.below(60);
  const inject = `inject=pwrite64:error=ENOSPC:when=${from}+`;
  const files = ["-P", file, "-P", `${file}-wal`];
  const tracer = ["strace", "-f", "-o", "/dev/null", ...files, "-e", "trace=pwrite64", "-e", inject];
  expectRefusal(scene, await admin(build, file, args, tracer), /full/);
  const again = await admin(build, file, args);
  expect(again.status === 0, () => `the re-run ended with ${again.status}: ${again.stderr}`);
  const found = look(file, (database) => ({ whole: isWhole(database), documents: documentsOf(database) }));
  const imported = found.documents.filter((document) => document.includes('"full')).length;
  expect(found.whole && imported === importedRows, () => `afterwards ${imported} of ${importedRows} rows are there`);
}
