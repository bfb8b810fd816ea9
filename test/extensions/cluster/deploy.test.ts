/** deploy/cluster/: what systemd, Caddy and nginx read has no mistake, and says what is measured. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFlags } from "../../../extensions/cluster/cluster/local-cluster.ts";
import { aFolder } from "../../support/folder.ts";

const deploy = join(import.meta.dir, "../../../deploy/cluster");
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

/** As much of a compose file as is looked at here. */
interface Composed {
  readonly services: Readonly<
    Record<
      string,
      { command?: string[]; environment?: Record<string, string>; volumes?: string[]; depends_on?: string[] }
    >
  >;
}

test("compose puts a server beside each node, which reads the node's folder and cannot write it", () => {
  const { services } = Bun.YAML.parse(read("compose.yaml")) as Composed; // As compose has it.
  for (const number of [1, 2, 3]) {
    const { command = [], volumes: [folder = ""] = [] } = services[`rqlite${number}`] ?? {};
    const flags = new Map(command.map((word, place) => [word, command[place + 1]]));
    expect(nodeFlags.filter((flag) => !command.includes(flag))).toEqual([]);
    expect(flags.get("-node-id")).toBe(`n${number}`);
    expect(flags.get("-http-adv-addr")).toBe(`rqlite${number}:4001`);
    expect(flags.get("-raft-adv-addr")).toBe(`rqlite${number}:4002`);
    expect(flags.get("-join")).toBe(number === 1 ? undefined : "rqlite1:4002");
    const { environment = {}, volumes = [], depends_on } = services[`leadfile${number}`] ?? {};
    expect(environment).toMatchObject({ CLUSTER: `http://rqlite${number}:4001`, NODE_NAME: `n${number}` });
    expect(volumes).toEqual([`${folder.split(":")[0]}:/node:ro`]);
    expect(environment["DATABASE_PATH"]).toBe("/node/db.sqlite");
    expect(depends_on).toEqual([`rqlite${number}`]);
  }
});
