/** A command in a clone, next to an installed service: no second database is created by mistake. */
import { expect } from "bun:test";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aFolder } from "../../support/folder.ts";
import { needing } from "../../support/needing.ts";

const program = join(import.meta.dir, "../../../src/admin.ts");

needing("root", "unshare", "mount").each([
  [["account", "create", "acme"], "", 1, "leadfile-admin"],
  [["restore", program], "", 1, "leadfile-admin"],
  [["key", "list", "acme"], "", 1, "leadfile-admin"],
  [["--version"], "", 0, ""],
  [["account", "create", "acme"], "data/other.db", 0, ""],
])("next to an installed service, %p with DATABASE_PATH=%p ends with %i", async (words, path, status, says) => {
  const folder = aFolder();
  cpSync("/etc", join(folder, "etc"), { recursive: true, filter: (name) => !/\/(?:ssl|alternatives)$/.test(name) });
  writeFileSync(join(folder, "etc/leadfile.env"), "DATABASE_PATH=/var/lib/leadfile/leadfile.db\n");
  mkdirSync(join(folder, "clone"));
  const inside = 'mount --bind "$0/etc" /etc && cd "$0/clone" && exec "$@"';
  const ended = Bun.spawnSync(["unshare", "--mount", "sh", "-c", inside, folder, process.execPath, program, ...words], {
    env: { PATH: process.env["PATH"] ?? "", DATABASE_PATH: path },
  });
  expect([ended.exitCode, ended.stderr.toString()]).toEqual([status, expect.stringContaining(says)]);
  expect(readdirSync(join(folder, "clone"))).toEqual(path === "" ? [] : ["data"]);
});
