/** What a backup or a restore says is done is on the disk by then, names as well, and in the order that a cut may fall into. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { missingRecorder } from "../../lab/faults/attacks/storage/strokes.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { unless } from "../support/needing.ts";

const recorded = unless(missingRecorder());

/**
 * The syncs, namings, closings and words of a command in their order, files by their name without the process, the folder
 * as `.`. Where `links` is false, the file system has no hard links.
 */
async function record({ folder, file }: Admin, args: readonly string[], links = true): Promise<string[]> {
  const trace = join(folder, "trace");
  const program = [process.execPath, join(import.meta.dir, "../../src/admin.ts"), ...args];
  const calls = "trace=fsync,fdatasync,link,linkat,rename,renameat,renameat2,write,close";
  const refused = links ? [] : ["-e", "inject=link,linkat:error=EPERM"];
  const child = Bun.spawn(["strace", "-f", "--seccomp-bpf", "-y", "-o", trace, "-e", calls, ...refused, ...program], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, DATABASE_PATH: file },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const said = await child.stdout.text();
  expect([await child.exited, said]).toEqual([0, expect.stringMatching(/./)]);
  const short = (path: string) =>
    path === folder ? "." : path.replace(`${folder}/`, "").replace(/\.leadfile-draft-[^/]+/, "draft");
  return readFileSync(trace, "utf8")
    .split("\n")
    .flatMap((line) => {
      const synced = /\bf(?:data)?sync\(\d+<([^>]+)>\) += 0$/.exec(line);
      if (synced !== null) return [`sync ${short(synced[1] ?? "")}`];
      const named = /\b(?:link|rename)\w*\(.*?"([^"]+)".*"([^"]+)".*\) += 0$/.exec(line);
      if (named !== null) return [`${short(named[1] ?? "")} is ${short(named[2] ?? "")}`];
      const closed = /\bclose\(\d+<([^>]+leadfile\.db)>\) += 0$/.exec(line);
      if (closed !== null) return [`let go of ${short(closed[1] ?? "")}`];
      return /\bwrite\(1</.test(line) ? ["said"] : [];
    });
}

/** The steps of some that were taken, in their order, each when it was taken for the last time. */
const lastOf = (strokes: readonly string[], steps: readonly string[]) =>
  steps.filter((step) => strokes.includes(step)).toSorted((a, b) => strokes.lastIndexOf(a) - strokes.lastIndexOf(b));

async function aFile(): Promise<{ admin: Admin; copy: string }> {
  const admin = anAdmin();
  await admin.import("date,pixel_id,email\n2026-01-31,px,a@example.com\n");
  return { admin, copy: join(admin.folder, "copy.db") };
}

recorded("a backup: both files, then the name of the manifest, then its own, then the folder", async () => {
  const { admin, copy } = await aFile();
  const strokes = await record(admin, ["backup", copy]);
  const steps = [
    "sync draft/copy.db",
    "sync draft/copy.db.manifest.json",
    "draft/copy.db.manifest.json is copy.db.manifest.json",
    "draft/copy.db is copy.db",
    "sync .",
    "said",
  ];
  // The folder is synced again for the log, in which the backup is put on record.
  const named = strokes.slice(strokes.indexOf("draft/copy.db is copy.db"));
  expect(named.indexOf("sync .")).toBeLessThan(named.findIndex((stroke) => stroke.includes("sync leadfile.db")));
  expect(lastOf(strokes, steps)).toEqual(steps);
});

recorded("a restore: the file, then its name, then the folder", async () => {
  const { admin, copy } = await aFile();
  await admin.run("backup", copy);
  const steps = ["sync draft/restored.db", "draft/restored.db is leadfile.db", "sync .", "said"];
  expect(lastOf(await record(admin, ["restore", copy]), steps)).toEqual(steps);
});

recorded(
  "a restore without hard links: the old file keeps its lock, and the new one takes its name at once",
  async () => {
    const { admin, copy } = await aFile();
    await admin.run("backup", copy);
    const strokes = await record(admin, ["restore", copy], false);
    const named = strokes.indexOf("draft/restored.db is leadfile.db");
    expect(strokes[named - 1]).toMatch(/^leadfile\.db is leadfile\.db\.replaced-/);
    // A program that closes a file drops all its locks on it.
    expect(strokes.slice(strokes.lastIndexOf("sync draft/restored.db"), named)).not.toContain("let go of leadfile.db");
  },
);
