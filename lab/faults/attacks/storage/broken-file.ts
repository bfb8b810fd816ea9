/** The disk fails or fills up, the file is taken away or swapped: clear failures, no wrong data, and all well after. */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { someLeads } from "../../../../test/support/builders.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { makeAccount, prepare } from "../../product/contents.ts";
import { duringFault, failingUnderLoad, importOnFullDisk, refusedCommand } from "./failing-calls.ts";
import { aScene, askOften, expectAllWell, type Scene } from "./served-file.ts";
import { missingRecorder } from "./strokes.ts";

export const brokenFile: Fault = {
  name: "a failing disk, a missing file",
  attack: "EIO, ENOSPC, EROFS and a failed fsync by the system, the file gone or swapped; cases",
  promise: "500 query_failed or one clear line and status 1, no wrong data, and all well once the cause is gone",
  small: 9,
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

async function run({ build, turns, expect }: Attack): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const { number, place, random } of turns()) {
    const [name, happen] = cases[number % cases.length] ?? cases[0];
    const scene = await aScene(build, place, random, (held, otherwise) =>
      expect(held, () => `${name}: ${otherwise()}`),
    );
    try {
      await expectAllWell(scene, "before");
      await happen(scene);
      await expectAllWell(scene, "after it");
      figures[name] = (figures[name] ?? 0) + 1;
    } finally {
      await scene.server.end("SIGKILL");
    }
  }
  return figures;
}

type Case = readonly [name: string, happen: (scene: Scene) => Promise<void>];

const cases: readonly [Case, ...Case[]] = [
  ["the file is moved away and back", (scene) => takenAway(scene)],
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
  ["the file is replaced by another", (scene) => takenAway(scene, true)],
];

/** Every request fails while the file is away, or another one is in its place. */
async function takenAway(scene: Scene, hasOther = false): Promise<void> {
  const { file, folder, expect } = scene;
  const other = join(folder, "other.db");
  if (hasOther) prepare(other, (store) => makeAccount(store, "other", someLeads(3)));
  renameSync(file, `${file}.aside`);
  if (hasOther) renameSync(other, file);
  const failed = await askOften(scene, 20);
  expect(failed === 20, () => `only ${failed} of 20 requests failed meanwhile`);
  renameSync(`${file}.aside`, file);
}
