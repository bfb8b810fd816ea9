/** A running server and commands share one file, and keep their locks on it. */
import { expect } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { anAdmin } from "../support/admin.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";

const system = "/proc/locks";

/** Returns the number of locks of a process on a file. Other programs would remove the log of a server without one. */
function locksOf(path: string, process: number): number {
  const { ino } = statSync(path);
  return readFileSync(system, "utf8")
    .split("\n")
    .map((line) => line.split(/\s+/))
    .filter((fields) => Number(fields[4]) === process && fields[5]?.endsWith(`:${ino}`)).length;
}

needing(system)("a server keeps its lock on the file while commands write and end", async () => {
  // A connection of this process would have its own locks.
  const admin = anAdmin([]);
  await admin.run("account", "create", "acme");
  const { key, id } = (await admin.run("key", "create", "acme", "--json")).json;
  const server = start({ DATABASE_PATH: admin.file }, admin.folder);
  const url = await server.listening();
  const ask = () => fetch(`${url}/api/v1/leads`, { headers: { Authorization: `Bearer ${key}` } });

  expect((await ask()).status).toBe(200);
  const before = locksOf(admin.file, server.pid);
  expect(before).toBeGreaterThan(0);
  for (const name of ["one", "two", "three"]) {
    await admin.run("account", "create", name);
    expect((await ask()).status).toBe(200);
    expect(locksOf(admin.file, server.pid)).toBe(before);
  }
  expect(existsSync(`${admin.file}-wal`)).toBe(true);
  await admin.run("key", "revoke", id);
  expect((await ask()).status).toBe(401);
  expect(await server.end("SIGTERM")).toBe(0);
});
