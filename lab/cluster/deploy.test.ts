/** deploy/cluster/: what systemd, Caddy and nginx read has no mistake, and says what is measured. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFlags } from "../../src/rqlite/keeping/local-cluster.ts";
import { aFolder } from "../../test/folder.ts";

const deploy = join(import.meta.dir, "../../deploy/cluster");
const read = (name: string) => readFileSync(join(deploy, name), "utf8");
const has = (program: string) => Bun.which(program) !== null;

function run(...command: readonly string[]): { status: number; said: string } {
  const { exitCode, stderr } = Bun.spawnSync([...command], { stdin: "ignore" });
  return { status: exitCode, said: stderr.toString() };
}

test.skipIf(!has("systemd-analyze"))("the units are understood by systemd, without a word of complaint", () => {
  const folder = aFolder();
  const files = readdirSync(join(deploy, "systemd")).filter((name) => /\.(?:service|timer)$/.test(name));
  const copies = files.map((name) => {
    writeFileSync(join(folder, name), read(`systemd/${name}`).replaceAll(/\/usr\/local\/bin\/\w+/g, "/bin/true"));
    return join(folder, name);
  });
  expect(files).toHaveLength(3);
  expect(run("systemd-analyze", "verify", "--man=no", ...copies)).toEqual({ status: 0, said: "" });
});

test.each(["systemd/rqlited.service", "compose.yaml"])("%s starts nodes with the flags that were measured", (name) => {
  for (const flag of nodeFlags) expect(read(name)).toContain(flag);
});

test.skipIf(!has("caddy"))("Caddy understands its configuration", () => {
  expect(run("caddy", "validate", "--config", join(deploy, "Caddyfile"), "--adapter", "caddyfile").status).toBe(0);
});

test.skipIf(!has("nginx"))("nginx understands its configuration", () => {
  const file = join(aFolder(), "nginx.conf");
  writeFileSync(file, `pid ${file}.pid; error_log stderr; events {} http { access_log off; ${read("nginx.conf")} }`);
  expect(run("nginx", "-t", "-c", file).said).toContain("test is successful");
});
