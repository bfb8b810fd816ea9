/** The files of deploy/cluster/: other programs accept them, and clusters with these secrets and containers start. */
import { expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { anAdmin } from "../../support/admin.ts";
import { openssl } from "../../support/certificate.ts";
import { endWithTest } from "../../support/child.ts";
import { until } from "../../support/eventually.ts";
import { aFolder } from "../../support/folder.ts";
import { client } from "../../support/harness.ts";
import { needing, unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { missing, settingsOf, watched } from "./cluster.ts";
import {
  aHost,
  type LocalNode,
  nodeFlags,
  placeNodes,
  printedBy,
  rqlited,
  secureFlags,
  someSecrets,
  startNode,
} from "./nodes.ts";

const deploy = join(import.meta.dir, "../../../deploy/cluster");
const read = (name: string) => readFileSync(join(deploy, name), "utf8");
const has = (program: string) => Bun.which(program) !== null;

function run(...command: readonly string[]): { status: number; errors: string } {
  const { exitCode, stderr } = Bun.spawnSync([...command], { stdin: "ignore" });
  return { status: exitCode, errors: stderr.toString() };
}

needing("systemd-analyze")("systemd accepts the units without a warning", () => {
  const folder = aFolder();
  const files = readdirSync(join(deploy, "systemd")).filter((name) => /\.(?:service|timer)$/.test(name));
  const copies = files.map((name) => {
    writeFileSync(join(folder, name), read(`systemd/${name}`).replaceAll(/\/usr\/(?:local\/)?bin\/\w+/g, "/bin/true"));
    return join(folder, name);
  });
  expect(files).toHaveLength(3);
  expect(run("systemd-analyze", "verify", "--man=no", ...copies)).toEqual({ status: 0, errors: "" });
});

test.each(["systemd/rqlited.service", "compose.yaml", "demo"])(
  "%s starts nodes with the flags that are tested",
  (name) => {
    for (const flag of nodeFlags) expect(read(name)).toContain(flag);
  },
);

needing("caddy")("Caddy accepts its configuration", () => {
  expect(run("caddy", "validate", "--config", join(deploy, "Caddyfile"), "--adapter", "caddyfile").status).toBe(0);
});

needing("nginx")("nginx accepts its configuration", () => {
  const file = join(aFolder(), "nginx.conf");
  writeFileSync(file, `pid ${file}.pid; error_log stderr; events {} http { access_log off; ${read("nginx.conf")} }`);
  expect(run("nginx", "-t", "-c", file).errors).toContain("test is successful");
});

/** The parts of a compose file that are used here. */
interface Composed {
  readonly services: Readonly<Record<string, Service>>;
}

interface Service {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly user?: string;
  readonly group_add?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
}

const { services } = Bun.YAML.parse(read("compose.yaml")) as Composed; // As compose defines it.

test("compose gives each node a server with read-only access to its folder, passwords, and TLS", () => {
  for (const number of [1, 2, 3]) {
    const { command = [], volumes: [folder = ""] = [] } = services[`rqlite${number}`] ?? {};
    expect(nodeFlags.filter((flag) => !command.includes(flag))).toEqual([]);
    for (const flag of ["-auth=", "-http-cert=", "-node-cert=", "-node-verify-client"]) {
      expect(command.some((word) => word.startsWith(flag))).toBe(true);
    }
    const { environment = {}, volumes = [] } = services[`leadfile${number}`] ?? {};
    expect(environment).toMatchObject({ CLUSTER: `https://rqlite${number}:4001`, NODE_NAME: `n${number}` });
    expect(volumes[0]).toBe(`${folder.split(":")[0]}:/node:ro`);
    // A server may not replace, move, or remove nodes.
    expect(environment["CLUSTER_AUTH"]).toBe("/secrets/server.auth");
  }
  expect(services["admin"]?.environment?.["CLUSTER_AUTH"]).toBe("/secrets/admin.auth");
});

const cannotCompose =
  missing ?? (process.getuid?.() === 0 && has("setpriv") && has("unshare") ? null : "only root can change users");

unless(cannotCompose).describe("compose.yaml", () => {
  test("starts three nodes and servers with the arguments, users, and permissions of the file", async () => {
    // A test before it may have opened a database here, which makes new files private; other users read these.
    process.umask(0o022);
    const secrets = someSecrets("rqlite1", "rqlite2", "rqlite3");
    const folder = aFolder();
    // Other users have to get through to what the containers mount.
    for (const path of [folder, dirname(secrets), secrets]) chmodSync(path, 0o755);
    const [a, b, c] = crypto.getRandomValues(new Uint8Array(3));
    const hosts = [1, 2, 3].map((number) => `127.${a}.${b}.${1 + ((c ?? 0) % 80) * 3 + number} rqlite${number}`);
    writeFileSync(join(folder, "hosts"), `127.0.0.1 localhost\n${hosts.join("\n")}\n`);
    const volumes = [1, 2, 3].map((number) => {
      const path = join(folder, `node${number}`);
      mkdirSync(path);
      return path;
    });
    const inHost = (text: string, number: number) =>
      text
        .replace("/rqlite/file", volumes[number - 1] ?? "")
        .replace("/node/", `${volumes[number - 1]}/`)
        .replace("/secrets", secrets)
        .replace("0.0.0.0", `rqlite${number}`)
        .replace("/bin/rqlited", rqlited);

    /** Runs a command as the user of a service, with the hosts of the network of compose. */
    function startAs(
      { user = "", group_add: groups = [] }: Service,
      command: string[],
      env: Record<string, string> = {},
    ) {
      const [uid, gid] = user.split(":");
      const as = [
        "setpriv",
        `--reuid=${uid}`,
        `--regid=${gid}`,
        groups.length > 0 ? `--groups=${groups}` : "--clear-groups",
      ];
      // A container starts with this mask.
      const mount = `umask 022 && mount --bind ${join(folder, "hosts")} /etc/hosts && exec "$@"`;
      const child = Bun.spawn(["unshare", "--mount", "sh", "-c", mount, "sh", ...as, ...command], {
        cwd: "/tmp",
        env: { PATH: process.env["PATH"] ?? "", ...env },
        stdout: "pipe",
        stderr: "pipe",
      });
      endWithTest(child);
      return child;
    }

    function startNodeOf(number: number): void {
      const service = services[`rqlite${number}`] ?? {};
      const [uid, gid] = (service.user ?? "").split(":").map(Number);
      // As a new volume gets the owner of the folder in the image.
      chownSync(volumes[number - 1] ?? "", uid ?? 0, gid ?? 0);
      startAs(
        service,
        [...(service.entrypoint ?? []), ...(service.command ?? [])].map((word) => inHost(word, number)),
      );
    }

    const settingsFor = ({ environment = {} }: Service, number: number) =>
      Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, inHost(value, number)]));
    const main = [process.execPath, join(deploy, "../../src/main.ts")];
    const cli = [process.execPath, join(deploy, "../../src/admin.ts")];
    const admin = services["admin"] ?? {};
    const run = async (...args: string[]) => {
      // The container that initializes the cluster is root, to read the file of the appliance.
      const child = startAs({ ...admin, user: "0:0" }, [...cli, ...args], settingsFor(admin, 1));
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { status: await child.exited, stdout, stderr };
    };
    startNodeOf(1);
    await until(() => existsSync(join(volumes[0] ?? "", "data/raft.db")));
    expect(await run("cluster", "init", anAdmin(["acme"]).file)).toMatchObject({ status: 0 });
    startNodeOf(2);
    startNodeOf(3);
    for (const number of [1, 2, 3]) {
      const service = services[`leadfile${number}`] ?? {};
      // Before that, the server ends, and compose starts it again.
      const data = join(volumes[number - 1] ?? "", "data");
      await until(() => ["raft.db", "db.sqlite", "db.sqlite-shm"].every((name) => existsSync(join(data, name))));
      startAs(service, main, { ...settingsFor(service, number), PORT: "0", HOST: `rqlite${number}`, HOME: "/tmp" });
    }
    await until(async () => {
      const { nodes } = await printedBy<{ nodes: { server: { serves: boolean } | null }[] }>(() =>
        run("cluster", "status", "--json"),
      );
      return nodes.length === 3 && nodes.every(({ server }) => server?.serves === true);
    });
    expect((await run("account", "create", "birch")).status).toBe(0);
  });
});

const cannotEncrypt = missing ?? (openssl === null ? "openssl is not installed" : null);

unless(cannotEncrypt)("a cluster with passwords and TLS serves, and rejects who has neither", async () => {
  const host = aHost();
  const secrets = someSecrets(host);
  const path = (name: string) => join(secrets, name);
  const nodes = placeNodes(aFolder(), ["n1", "n2", "n3"], host).map((node) => {
    return { ...node, url: node.url.replace("http:", "https:") };
  });
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error("there are nodes");
  const local = settingsOf(first);
  const trust = { CLUSTER_AUTH: path("server.auth"), NODE_EXTRA_CA_CERTS: path("ca.pem") };
  const asAdmin = { CLUSTER_AUTH: path("admin.auth") };
  /** In a process of its own: a program reads the certificates that it trusts when it starts. */
  async function run(settings: Record<string, string>, ...args: string[]) {
    const child = anAdmin([], { ...local, ...settings }).start(...args);
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { stdout, stderr, status: await child.exited };
  }
  const flags = secureFlags(secrets);
  watched(startNode(first, { flags }));
  // Right after the start: there is no leader yet.
  expect(await run({ ...trust, ...asAdmin }, "cluster", "init", anAdmin(["acme"]).file)).toMatchObject({ status: 0 });
  for (const node of others) {
    watched(startNode(node, { others: [first], flags: [...flags, "-join-as", "rqlite"] }));
  }
  const login = readFileSync(path("admin.auth"), "utf8").trim();
  await Promise.all(others.map((node) => until(() => isReady(node, login))));
  const urls = await Promise.all(nodes.map((node) => start({ ...settingsOf(node), ...trust }).listening()));
  const created = await run(trust, "key", "create", "acme", "--json");
  const { key, id }: { key: string; id: string } = JSON.parse(created.stdout);
  const status = async (url: string) => (await client(url, { Authorization: `Bearer ${key}` }).get("/pixels")).status;
  for (const url of urls) await until(async () => (await status(url)) === 200);
  expect(await run(trust, "key", "revoke", id)).toMatchObject({ status: 0 });
  for (const url of urls) expect(await status(url)).not.toBe(200);
  for (const url of urls) await until(async () => (await status(url)) === 401);
  // The credentials of a server cannot replace or remove nodes.
  expect(await run(trust, "cluster", "leave", "n3")).toMatchObject({ status: 1 });
  for (const stranger of [
    { ...trust, CLUSTER_AUTH: "" },
    { ...trust, NODE_EXTRA_CA_CERTS: "" },
  ]) {
    const { stderr } = await run(stranger, "cluster", "status");
    expect(stderr).toContain("The rqlite node at CLUSTER does not answer");
  }
});

async function isReady({ url }: LocalNode, login: string): Promise<boolean> {
  const headers = { Authorization: `Basic ${Buffer.from(login).toString("base64")}` };
  const request = { headers, tls: { rejectUnauthorized: false }, signal: AbortSignal.timeout(1_000) };
  return (await fetch(`${url}/readyz`, request).catch(() => null))?.status === 200;
}
