/** A disk of its own with little room, which only root may mount: see `needing("mount")`. */
import { expect } from "bun:test";
import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";

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

/** The command prefix that limits the files that a command writes to 2 MB. */
export const withLittleRoom = ["bash", "-c", 'ulimit -f 2000; exec "$@"', "-"];

/** The streams of a program whose standard output is a full disk: see `needing("/dev/full")`. */
export const toFullDisk = () => ({ output: openSync("/dev/full", "w") });
