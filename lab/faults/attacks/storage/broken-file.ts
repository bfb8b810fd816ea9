/** The disk fails or fills up, the file is taken away or swapped: clear failures, no wrong data, and all well after. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Attack, createFindings, type Fault, type Outcome } from "../../fault.ts";
import { duringFault, failingUnderLoad, refusedCommand } from "./failing-calls.ts";
import { fullTmpfs, importOnFullDisk } from "./full-disk.ts";
import { logRemoved, overwritten, replaced, takenAway } from "./lost-file.ts";
import { aScene, expectAllWell, type Scene } from "./served-file.ts";
import { missingRecorder } from "./strokes.ts";

export const brokenFile: Fault = {
  name: "a failing disk, a missing file",
  attack:
    "EIO, ENOSPC, EROFS and a failed fsync by the system, a full tmpfs, the file gone, swapped, cut or overwritten; cases",
  promise: "500 query_failed or one clear line and status 1, no wrong data, and all well once the cause is gone",
  small: 12,
  full: 300,
  breakages: [
    {
      name: "a server that does not look at its file",
      times: 1,
      patches: [
        {
          file: "src/db/reader.ts",
          from: "    assertSame() {\n",
          to: "    assertSame() {\n      return;\n",
        },
      ],
    },
    {
      name: "an import that does not hear that it failed",
      times: 2,
      patches: [
        { file: "src/import/write/import.ts", from: "throw interrupted(cause);", to: "void interrupted(cause);" },
      ],
    },
  ],
  missing: missingRecorder,
  run,
};

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
