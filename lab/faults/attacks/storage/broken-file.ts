/** The disk fails or fills up, the file is taken away or swapped: clear failures, no wrong data, and all well after. */
import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { someLeads } from "../../../../test/builders.ts";
import { type Attack, createFindings, type Fault, type Findings, type Outcome } from "../../fault.ts";
import { documentsOf, isWhole, look, makeAccount, prepare, prepareKey } from "../../product/contents.ts";
import { admin, type Ended, type Server, startServer } from "../../product/program.ts";
import type { Random } from "../../random.ts";
import { missingRecorder } from "./strokes.ts";

const leadCount = 1500;
const largeCount = 45_000;
const pageSize = 5;
const importedRows = 300;

export const brokenFile: Fault = {
  name: "a disk that fails and a file that is gone",
  attack:
    "EIO, ENOSPC, EROFS and a failed fsync by the system, a full tmpfs, the file gone, swapped, cut or overwritten; cases",
  held: "500 query_failed or one clear line and status 1, no wrong data, and all well once the cause is gone",
  small: 12,
  full: 300,
  breakages: [
    {
      name: "a server that does not look at its file",
      times: 1,
      patches: [
        {
          file: "src/sqlite/reading/file-watch.ts",
          from: "    assertSame() {\n",
          to: "    assertSame() {\n      return;\n",
        },
      ],
    },
    {
      name: "an import that does not hear that it failed",
      times: 2,
      patches: [{ file: "src/sqlite/import/import.ts", from: "throw cutShort(cause);", to: "void cutShort(cause);" }],
    },
  ],
  missing: missingRecorder,
  run,
};

interface Scene {
  readonly build: string;
  readonly folder: string;
  readonly file: string;
  readonly secret: string;
  /** As served, newest first. */
  readonly documents: readonly string[];
  readonly server: Server;
  readonly random: Random;
  readonly expect: Findings["expect"];
}

async function run({ build, folder, times, random, goesOn, progress }: Attack): Promise<Outcome> {
  const { broken, expect } = createFindings();
  const figures: Record<string, number> = {};
  let turn = 0;
  for (; turn < times && goesOn(); turn++) {
    const [name, happen] = cases[turn % cases.length] ?? ["", async () => undefined];
    const place = join(folder, String(turn));
    mkdirSync(place);
    const scene = await aScene(build, place, random.branch(turn), (held, otherwise) =>
      expect(held, () => `${name}: ${otherwise()}`),
    );
    try {
      await expectAllWell(scene, "before");
      const skipped = await happen(scene);
      if (skipped !== "skipped") figures[name] = (figures[name] ?? 0) + 1;
    } finally {
      await scene.server.end("SIGKILL");
      rmSync(place, { recursive: true, force: true });
    }
    progress(turn + 1);
  }
  return { done: turn, broken, figures };
}

async function aScene(
  build: string,
  folder: string,
  random: Random,
  expect: Findings["expect"],
  leads = leadCount,
): Promise<Scene> {
  const file = join(folder, "leadfile.db");
  const secret = prepareKey(file, leads);
  const documents = look(file, documentsOf).toReversed();
  const server = await startServer(build, file);
  return { build, folder, file, secret, documents, server, random, expect };
}

type Happening = (scene: Scene) => Promise<unknown>;

const cases: readonly (readonly [name: string, happen: Happening])[] = [
  ["the file is moved away and back", takenAway],
  ["an import that fills the disk", importOnFullDisk],
  ["reading fails (EIO)", (scene) => duringFault(scene, "pread64:error=EIO", "some fail")],
  ["some reads fail (EIO) while 16 clients ask at once", failingUnderLoad],
  ["writing fails (ENOSPC) while it serves", (scene) => duringFault(scene, "pwrite64:error=ENOSPC", "none fails")],
  ["a command on a full disk", (scene) => refusedCommand(scene, ["inject=pwrite64:error=ENOSPC"], /full/)],
  ["a command whose fsync fails", (scene) => refusedCommand(scene, ["inject=fsync,fdatasync:error=EIO"], /./)],
  [
    "a command on a read-only file",
    (scene) => refusedCommand(scene, ["inject=openat:error=EROFS", "-P", scene.file], /read.?only|cannot be/i),
  ],
  ["the file is replaced by another", replaced],
  ["the file is overwritten", overwritten],
  ["the log beside it is removed", logRemoved],
  ["a tmpfs that is full", fullTmpfs],
];

/** A page from anywhere, so that it is not remembered; whether it failed as it should, and was right if not. */
async function askAnywhere({ server, secret, documents, random, expect }: Scene): Promise<boolean> {
  const start = random.below(documents.length - pageSize);
  const before = (JSON.parse(documents[start] ?? "") as { identified_at: string }).identified_at;
  const response = await fetch(`${server.url}/api/v1/leads?limit=${pageSize}&before=${before}`, {
    headers: { Authorization: `Bearer ${secret}` },
  }).catch(() => null);
  if (response === null) {
    expect(false, () => "a request was not answered");
    return false;
  }
  const text = await response.text();
  if (response.status === 200) {
    const expected = `"data":[${documents.slice(start + 1, start + 1 + pageSize).join(",")}]`;
    expect(text.includes(expected), () => `wrong data: ${text.slice(0, 200)}`);
    return true;
  }
  expect(response.status === 500 && text.includes('"query_failed"'), () => `${response.status} ${text.slice(0, 200)}`);
  return false;
}

async function askOften(scene: Scene, times: number): Promise<number> {
  let failed = 0;
  for (let ask = 0; ask < times; ask++) {
    if (!(await askAnywhere(scene))) failed++;
    // The look at the file is shared by requests that come close together.
    await Bun.sleep(1);
  }
  return failed;
}

async function expectAllWell(scene: Scene, when: string): Promise<void> {
  const failed = await askOften(scene, 20);
  scene.expect(failed === 0, () => `${failed} of 20 requests failed ${when}`);
}

/** The system gives an error to every such call of the running server, then no more. */
async function duringFault(scene: Scene, injected: string, wanted: "some fail" | "none fails"): Promise<void> {
  // Long enough for counts of usage to be written as well.
  const failed = await injecting(scene.server, injected, () => askOften(scene, 300));
  scene.expect(wanted === "none fails" ? failed === 0 : failed > 0, () => `${failed} of 300 requests failed`);
  await expectAllWell(scene, "after it");
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
async function failingUnderLoad({ build, folder, random, expect }: Scene): Promise<void> {
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

const makeKeyCommand = ["key", "create", "acme", "--json"];

async function refusedCommand(scene: Scene, injection: readonly string[], says: RegExp): Promise<void> {
  const [inject = "", ...more] = injection;
  const call = inject.slice("inject=".length).split(":")[0];
  const tracer = ["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject, ...more];
  expectRefusal(scene, await admin(scene.build, scene.file, makeKeyCommand, tracer), says);
  const again = await admin(scene.build, scene.file, makeKeyCommand);
  scene.expect(again.status === 0, () => `afterwards the command ended with ${again.status}: ${again.stderr}`);
  await expectAllWell(scene, "after it");
}

function expectRefusal({ expect }: Scene, { status, stdout, stderr }: Ended, says: RegExp): void {
  expect(status === 1, () => `the command ended with ${status}: ${stdout}${stderr}`);
  expect(stdout === "", () => `it printed a result: ${stdout}`);
  expect(says.test(stderr), () => `it said: ${stderr}`);
  expect(!/\n\s+at /.test(stderr), () => `it showed where it failed: ${stderr}`);
}

async function importOnFullDisk(scene: Scene): Promise<void> {
  const { build, folder, file, random, expect } = scene;
  const exported = join(folder, "export.csv");
  const rows = Array.from({ length: importedRows }, (_, n) => `2026-03-01,full${n}@example.com`);
  writeFileSync(exported, `date,email\n${rows.join("\n")}\n`);
  const args = ["lead", "import", "acme", exported, "--pixel", "px_site", "--json"];
  const from = 2 + random.below(60);
  const inject = `inject=pwrite64:error=ENOSPC:when=${from}+`;
  const tracer = [
    "strace",
    "-f",
    "-o",
    "/dev/null",
    "-P",
    file,
    "-P",
    `${file}-wal`,
    "-e",
    "trace=pwrite64",
    "-e",
    inject,
  ];
  expectRefusal(scene, await admin(build, file, args, tracer), /full/);
  const again = await admin(build, file, args);
  expect(again.status === 0, () => `the re-run ended with ${again.status}: ${again.stderr}`);
  const found = look(file, (database) => ({ whole: isWhole(database), documents: documentsOf(database) }));
  const imported = found.documents.filter((document) => document.includes('"full')).length;
  expect(found.whole && imported === importedRows, () => `afterwards ${imported} of ${importedRows} rows are there`);
}

async function takenAway(scene: Scene): Promise<void> {
  const aside = `${scene.file}.aside`;
  renameSync(scene.file, aside);
  const failed = await askOften(scene, 20);
  scene.expect(failed === 20, () => `only ${failed} of 20 requests failed while the file was away`);
  renameSync(aside, scene.file);
  await expectAllWell(scene, "after it was put back");
}

async function replaced(scene: Scene): Promise<void> {
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

async function overwritten(scene: Scene): Promise<void> {
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

async function logRemoved(scene: Scene): Promise<void> {
  const { build, file, expect } = scene;
  for (const suffix of scene.random.pick([["-wal", "-shm"], ["-wal"], ["-shm"]])) rmSync(file + suffix);
  const failed = await askOften(scene, 20);
  expect(failed === 20, () => `only ${failed} of 20 requests failed without the log`);
  await scene.server.end("SIGKILL");
  const server = await startServer(build, file);
  await expectAllWell({ ...scene, server }, "after a restart");
  await server.end();
}

/** A real disk without room; skipped where this user may not mount one. */
async function fullTmpfs(scene: Scene): Promise<unknown> {
  const { build, folder, expect } = scene;
  const mount = join(folder, "tmpfs");
  mkdirSync(mount);
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", mount]);
  if (mounted.exitCode !== 0) return "skipped";
  const file = join(mount, "leadfile.db");
  try {
    const secret = prepareKey(file, 200);
    const server = await startServer(build, file);
    const ask = async () => {
      const response = await fetch(`${server.url}/api/v1/usage`, { headers: { Authorization: `Bearer ${secret}` } });
      return response.status;
    };
    fill(join(mount, "filler"));
    const refused = await admin(build, file, makeKeyCommand);
    expectRefusal(scene, refused, /full|not full/);
    expect((await ask()) === 200, () => "a request failed while the disk was full");
    rmSync(join(mount, "filler"));
    const again = await admin(build, file, makeKeyCommand);
    expect(again.status === 0, () => `with room again the command ended with ${again.status}: ${again.stderr}`);
    expect((await ask()) === 200, () => "a request failed when there was room again");
    const ended = await server.end();
    expect(ended === 0, () => `the server ended with ${ended}: ${server.errors()}`);
  } finally {
    Bun.spawnSync(["umount", "-l", mount]);
  }
  return undefined;
}

function fill(path: string): void {
  const file = openSync(path, "w");
  for (const size of [65_536, 4096]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size, 1));
    } catch {
      // No room for so much; perhaps for less.
    }
  }
  closeSync(file);
}
