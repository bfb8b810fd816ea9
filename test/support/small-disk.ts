/** A disk of its own with little room, which only root may mount: see `needing("mount")`. */
import { expect, onTestFinished } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Admin } from "./admin.ts";

/** Mounts one below a folder, until it is disposed of. */
export function aSmallDisk(folder: string, options: string): Disposable & { readonly path: string } {
  const path = join(folder, "disk");
  mkdirSync(path);
  return mountAt(path, options);
}

/** The same at a folder that is there. */
export function mountAt(path: string, options: string): Disposable & { readonly path: string } {
  expect(Bun.spawnSync(["mount", "-t", "tmpfs", "-o", options, "none", path]).exitCode).toBe(0);
  // A database that the test has closed stays open until its statements are collected, and would keep the disk.
  return { path, [Symbol.dispose]: () => void Bun.spawnSync(["umount", "--lazy", path]) };
}

/** Leaves no room on a disk. */
export function fill(disk: string): void {
  Bun.spawnSync(["dd", "if=/dev/zero", `of=${join(disk, "rest")}`, "bs=1k"]);
}

/** Runs a command that may write no file of more than 4 MB. */
export function withLittleRoom(admin: Pick<Admin, "folder" | "file">, ...args: readonly string[]) {
  const program = join(import.meta.dir, "../../src/admin.ts");
  const child = Bun.spawn(["bash", "-c", 'ulimit -f 4000; exec "$@"', "-", process.execPath, program, ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: admin.folder, DATABASE_PATH: admin.file },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  onTestFinished(() => child.kill("SIGKILL"));
  return child;
}
