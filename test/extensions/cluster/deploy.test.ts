/** The files of deploy/cluster/: other programs accept them, and clusters with these secrets and containers start. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { anAdmin } from "../../support/admin.ts";
import { until } from "../../support/eventually.ts";
import { aFolder } from "../../support/folder.ts";
import { client } from "../../support/harness.ts";
import { missingHere, needing, unless } from "../../support/needing.ts";
import { adminCommand, runNow, serverCommand, start } from "../../support/process.ts";
import { missing } from "./cluster.ts";
import { nodeFlags, printedBy, rqlited } from "./nodes.ts";

const deploy = join(import.meta.dir, "../../../deploy/cluster");
const read = (name: string) => readFileSync(join(deploy, name), "utf8");

needing("systemd-analyze")("systemd accepts the units without a warning", () => {
  const folder = aFolder();
  const files = readdirSync(join(deploy, "systemd")).filter((name) => /\.(?:service|timer)$/.test(name));
  const copies = files.map((name) => {
    writeFileSync(join(folder, name), read(`systemd/${name}`).replaceAll(/\/usr\/(?:local\/)?bin\/\w+/g, "/bin/true"));
    return join(folder, name);
  });
  expect(files).toHaveLength(3);
  expect(runNow("systemd-analyze", "verify", "--man=no", ...copies)).toMatchObject({ status: 0, stderr: "" });
});

test.each(["systemd/rqlited.service", "demo"])("%s starts nodes with the flags that are tested", (name) => {
  for (const flag of nodeFlags) expect(read(name)).toContain(flag);
});

needing("caddy")("Caddy accepts its configuration", () => {
  expect(runNow("caddy", "validate", "--config", join(deploy, "Caddyfile"), "--adapter", "caddyfile").status).toBe(0);
});

needing("nginx")("nginx accepts its configuration", () => {
  const file = join(aFolder(), "nginx.conf");
  writeFileSync(file, `pid ${file}.pid; error_log stderr; events {} http { access_log off; ${read("nginx.conf")} }`);
  expect(runNow("nginx", "-t", "-c", file).stderr).toContain("test is successful");
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
  const image = Bun.YAML.parse(read("compose.yaml")) as {
    "x-leadfile": { build: { context: string; dockerfile: string } };
  };
  const { context, dockerfile } = image["x-leadfile"].build;
  expect(existsSync(join(deploy, context, dockerfile))).toBe(true);
});

const needsOfCompose = missingHere("root", "setpriv", "unshare", "openssl");

type Machine = ReturnType<typeof aMachine>;

/** The machine of compose: its secrets, the hosts of its network, and a folder for each volume. */
function aMachine() {
  // Another test may have opened a database here, which makes new files private; other users read these.
  process.umask(0o022);
  const secrets = someSecrets("rqlite1", "rqlite2", "rqlite3");
  const folder = aFolder();
  const mounted = join(folder, "secrets");
  mkdirSync(mounted);
  for (const name of readdirSync(secrets)) writeFileSync(join(mounted, name), "");
  // Other users have to get through to the volumes. What make-secrets made stays as it is.
  for (const path of [folder, mounted]) chmodSync(path, 0o755);
  const [a, b, c] = crypto.getRandomValues(new Uint8Array(3));
  const addressOf = (number: number) => `127.${a}.${b}.${1 + ((c ?? 0) % 80) * 3 + number}`;
  const hosts = [1, 2, 3].map((number) => `${addressOf(number)} rqlite${number}`);
  writeFileSync(join(folder, "hosts"), `127.0.0.1 localhost\n${hosts.join("\n")}\n`);
  const volumeOf = (number: number) => join(folder, `node${number}`);
  for (const number of [1, 2, 3]) mkdirSync(volumeOf(number));
  const inHost = (text: string, number: number) =>
    text
      .replace("/rqlite/file", volumeOf(number))
      .replace("/node/", `${volumeOf(number)}/`)
      .replace("/secrets", mounted)
      .replace("0.0.0.0", `rqlite${number}`)
      .replace("/bin/rqlited", rqlited);
  /** The commands that mount the secrets of a service, as the service manager does it: as root. */
  const mountsOf = ({ volumes = [] }: Service) => {
    const names = volumes.flatMap((volume) => /^\.\/secrets\/([\w.]+):\/secrets\/\1:ro$/.exec(volume)?.[1] ?? []);
    return names.map((name) => `mount --bind ${join(secrets, name)} ${join(mounted, name)}`);
  };
  return { folder, mounted, addressOf, volumeOf, inHost, mountsOf };
}

/** Runs a command as the user of a service, with the hosts of the network of compose. */
function startAs(
  { folder, inHost, mountsOf }: Machine,
  service: Service,
  number: number,
  command: readonly string[],
  settings: Readonly<Record<string, string>> = {},
) {
  const { user = "", group_add: groups = [], environment = {} } = service;
  const [uid, gid] = user.split(":");
  const ofGroups = groups.length > 0 ? `--groups=${groups}` : "--clear-groups";
  // A container starts with this mask.
  const mounts = [`mount --bind ${join(folder, "hosts")} /etc/hosts`, ...mountsOf(service)];
  const mount = `umask 022 && ${mounts.join(" && ")} && exec "$@"`;
  const as = ["unshare", "--mount", "sh", "-c", mount, "sh", "setpriv", `--reuid=${uid}`, `--regid=${gid}`, ofGroups];
  const own = Object.entries(environment).map(([name, value]) => [name, inHost(value, number)]);
  return start({ ...Object.fromEntries(own), ...settings }, "/tmp", [...as, ...command]);
}

/** Starts an rqlite node, given its number and its JOIN. */
function startNodeOf(machine: Machine, number: number, join = "") {
  const service = services[`rqlite${number}`] ?? {};
  const [uid = 0, gid = 0] = (service.user ?? "").split(":").map(Number);
  // As a new volume gets the owner of the folder in the image.
  chownSync(machine.volumeOf(number), uid, gid);
  const command = [...(service.entrypoint ?? []), ...(service.command ?? [])];
  const words = command.map((word) => machine.inHost(word, number).replace(/\$\{JOIN:-\}/, join));
  return startAs(machine, service, number, words);
}

/** Starts the server next to a node. Returns its address. */
async function startServerOf(machine: Machine, number: number): Promise<string> {
  const settings = { PORT: "0", HOST: `rqlite${number}` };
  const data = join(machine.volumeOf(number), "data");
  // Before that, the server ends, and compose starts it again.
  await until(() => ["raft.db", "db.sqlite", "db.sqlite-shm"].every((name) => existsSync(join(data, name))));
  const server = startAs(machine, services[`leadfile${number}`] ?? {}, number, serverCommand, settings);
  return (await server.listening()).replace(/^.*rqlite\d/, `http://${machine.addressOf(number)}`);
}

unless(missing ?? needsOfCompose).describe("compose.yaml", () => {
  test("starts nodes and servers with its arguments, users, and permissions, which reject who has no password or certificate", async () => {
    const machine = aMachine();
    // The container that initializes the cluster is root, to read the file of the appliance.
    const secretsOfBoth = [...(services["admin"]?.volumes ?? []), ...(services["leadfile1"]?.volumes ?? [])];
    const asRoot = { ...services["admin"], user: "0:0", volumes: secretsOfBoth };
    const run = (settings: Readonly<Record<string, string>>, ...args: readonly string[]) =>
      startAs(machine, asRoot, 1, [...adminCommand, ...args], settings).finished();

    const first = startNodeOf(machine, 1);
    await until(() => existsSync(join(machine.volumeOf(1), "data/raft.db")));
    // Right after the start: there is no leader yet.
    expect(await run({}, "cluster", "init", anAdmin(["acme"]).file)).toMatchObject({ status: 0 });
    startNodeOf(machine, 2);
    startNodeOf(machine, 3);
    const urls = await Promise.all([1, 2, 3].map((number) => startServerOf(machine, number)));
    const asServer = { CLUSTER_AUTH: join(machine.mounted, "server.auth") };
    const { key, id } = await printedBy<{ key: string; id: string }>(() =>
      run(asServer, "key", "create", "acme", "--json"),
    );
    const headers = {
      Authorization: `Bearer ${key}`,
      "X-Forwarded-Proto": "https",
      "X-Forwarded-Host": "www.example.com",
    };
    const status = async (url: string) => (await client(url, headers).get("/pixels")).status;
    for (const url of urls) await until(async () => (await status(url)) === 200);
    expect(await run(asServer, "key", "revoke", id)).toMatchObject({ status: 0 });
    for (const url of urls) expect(await status(url)).not.toBe(200);
    for (const url of urls) await until(async () => (await status(url)) === 401);
    // The credentials of a server cannot replace or remove nodes: the server of n3 serves again below.
    expect(await run(asServer, "cluster", "leave", "n3")).toMatchObject({ status: 1 });
    // The first node joins the others as the documentation describes.
    const started = join(machine.folder, "started");
    const [stop, restart] = [`kill ${first.pid}; tail --pid=${first.pid} -f /dev/null`, `touch ${started}`];
    const rejoining = run({}, "cluster", "rejoin", "--stop", stop, "--start", restart);
    await until(() => existsSync(started));
    startNodeOf(machine, 1, "rqlite2:4002,rqlite3:4002");
    expect(await rejoining).toMatchObject({ status: 0, stdout: expect.stringContaining("n1 has all data") });
    for (const url of urls) await until(async () => (await status(url)) === 401);
    for (const [stranger, says] of [
      [{ CLUSTER_AUTH: "" }, "refused the request (the user in CLUSTER_AUTH is unknown or lacks a permission)"],
      [{ NODE_EXTRA_CA_CERTS: "" }, "does not answer"],
    ] as const) {
      const { stderr } = await run(stranger, "cluster", "status");
      expect(stderr).toContain(`The rqlite node at CLUSTER ${says}`);
    }
  });
});

/** Runs deploy/cluster/make-secrets for some hosts. Returns the folder of passwords and certificates. */
function someSecrets(...hosts: readonly string[]): string {
  const script = join(aFolder(), "make-secrets");
  copyFileSync(join(deploy, "make-secrets"), script);
  expect(runNow("sh", script, ...hosts).status).toBe(0);
  return join(dirname(script), "secrets");
}
