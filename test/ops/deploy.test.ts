/** deploy/: the units are read by systemd, and the container is built from a file that a linter has nothing against. */
import { beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../admin.ts";
import { theExecutable } from "../executable.ts";
import { aFolder } from "../folder.ts";
import { client } from "../harness.ts";
import { start } from "../process.ts";
import { aFreePort } from "../proxy.ts";

const deploy = join(import.meta.dir, "../../deploy");
const units = join(deploy, "systemd");
const isRoot = process.getuid?.() === 0;

/** A test that needs programs, and says which of them is not here. */
function testWith(programs: readonly string[], name: string, run: () => Promise<void> | void): void {
  const missing = programs.filter((program) => (program === "root" ? !isRoot : Bun.which(program) === null));
  const note = missing.length === 0 ? "" : ` (skipped: no ${missing.join(", no ")} here)`;
  test.skipIf(missing.length > 0)(name + note, run);
}

function run(...command: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { stdin: "ignore" });
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

beforeAll(() => void theExecutable());

describe("the units of systemd", () => {
  /** The units in a folder of their own, with the executable where it is in this test. */
  function installed(): string[] {
    const folder = aFolder();
    return readdirSync(units)
      .filter((name) => /\.(?:service|timer)$/.test(name))
      .map((name) => {
        const text = readFileSync(join(units, name), "utf8");
        writeFileSync(join(folder, name), text.replaceAll("/usr/local/bin/leadfile", theExecutable()));
        return join(folder, name);
      });
  }

  testWith(["systemd-analyze"], "are understood by systemd, without a word of complaint", () => {
    const files = installed();
    expect(files).toHaveLength(5);
    expect(run("systemd-analyze", "verify", "--man=no", ...files)).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  testWith(["systemd-analyze"], "expose less than 2.5", () => {
    const services = readdirSync(units).filter((name) => name.endsWith(".service"));
    expect(services).toHaveLength(4);
    for (const service of services) {
      const { stdout } = run("systemd-analyze", "security", "--offline=yes", "--no-pager", join(units, service));
      const level = Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1] ?? Number.NaN);
      expect(level).toBeLessThan(2.5);
    }
  });

  testWith(["systemd-analyze"], "make a backup every night", () => {
    const [, when = ""] = /^OnCalendar=(.+)$/m.exec(readFileSync(join(units, "leadfile-backup.timer"), "utf8")) ?? [];
    expect(run("systemd-analyze", "calendar", "--iterations=2", when).stdout).toMatch(/Iter\S* #2/);
  });

  test("end old backups only after a new one was made, which the doctor then knows of", async () => {
    const admin = anAdmin();
    await admin.import("email,pixel_id\na@example.com,px\n");
    const backups = join(admin.folder, "backups");
    mkdirSync(backups);
    for (const name of ["leadfile-old.db", "leadfile-old.db.manifest.json"]) {
      writeFileSync(join(backups, name), "");
      utimesSync(join(backups, name), 0, 0);
    }
    const unit = readFileSync(join(units, "leadfile-backup.service"), "utf8");
    const commandOf = (name: string) =>
      (new RegExp(`^${name}=(.+)$`, "m").exec(unit)?.[1] ?? "false")
        .replaceAll("/var/backups/leadfile", backups)
        .replaceAll("/usr/local/bin/leadfile", theExecutable())
        .replaceAll("%%", "%")
        .replaceAll("leadfile-*.db*", "'leadfile-*.db*'");
    const env = { PATH: process.env["PATH"] ?? "", DATABASE_PATH: admin.file, KEEP_DAYS: "14" };
    for (const name of ["ExecStart", "ExecStartPost"]) {
      const ran = Bun.spawnSync(["sh", "-c", commandOf(name)], { cwd: admin.folder, env });
      expect([name, ran.exitCode]).toEqual([name, 0]);
    }
    const made = readdirSync(backups).toSorted();
    expect(made).toEqual([
      expect.stringMatching(/^leadfile-\d{4}-\d\d-\d\dT\d{6}Z\.db$/),
      expect.stringMatching(/^leadfile-\d{4}-\d\d-\d\dT\d{6}Z\.db\.manifest\.json$/),
    ]);
    expect((await admin.run("doctor")).stdout).toMatch(/^fine +backups +The last one/m);
  });

  testWith(["systemd-sysusers", "systemd-tmpfiles", "root"], "come with a user and with folders of its own", () => {
    const root = aFolder();
    for (const folder of ["etc", "var/lib", "var/backups"]) mkdirSync(join(root, folder), { recursive: true });
    run("systemd-sysusers", `--root=${root}`, join(units, "leadfile-sysusers.conf"));
    const [, uid] = /^leadfile:x:(\d+):/m.exec(readFileSync(join(root, "etc/passwd"), "utf8")) ?? [];
    expect(run("systemd-tmpfiles", `--root=${root}`, "--create", join(units, "leadfile-tmpfiles.conf")).status).toBe(0);
    for (const folder of ["var/lib/leadfile", "var/lib/leadfile/inbox", "var/backups/leadfile"]) {
      const { mode, uid: owner } = statSync(join(root, folder));
      expect([(mode & 0o777).toString(8), owner]).toEqual(["700", Number(uid)]);
    }
  });

  testWith(["systemd-analyze", "strace"], "allow every system call that server and import make", async () => {
    const folder = aFolder();
    // Daemonized it leaves the program in its place, so that a signal reaches the program.
    const traced = (name: string) => [
      "strace",
      "--daemonize",
      "--follow-forks",
      "--quiet=all",
      "--output",
      join(folder, name),
    ];
    writeFileSync(join(folder, "leads.csv"), "email,pixel_id\na@example.com,px\n");
    const settings = { cwd: folder, env: {}, stdin: "ignore" } as const;
    Bun.spawnSync([theExecutable(), "account", "create", "acme"], settings);
    const command = [theExecutable(), "lead", "import", "acme", "leads.csv", "--create-pixels"];
    expect(Bun.spawnSync([...traced("import.trace"), ...command], settings).exitCode).toBe(0);
    const server = start({}, folder, [...traced("serve.trace"), theExecutable(), "serve"]);
    const { get } = client(await server.listening(), {});
    expect((await get("/leads")).status).toBe(401);
    await server.end("SIGTERM");

    const traces = ["import.trace", "serve.trace"].map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
    const made = new Set([...traces.matchAll(/^\d+ +(\w+)\(/gm)].map(([, call = ""]) => call));
    expect(made.size).toBeGreaterThan(30);
    // SQLite gives its log to the owner of the file where it runs as root, which the service does not.
    made.delete("fchown");
    // Allowed by its name, as an import asks to go last.
    made.delete("setpriority");
    const denied = [...made].filter((call) => !allowedCalls().has(call));
    expect(denied).toEqual([]);
  });
});

/** What the filter of the service allows: system services and what everybody may, without privileges and resources. */
function allowedCalls(): ReadonlySet<string> {
  const groups = new Map<string, string[]>();
  let members: string[] = [];
  for (const line of run("systemd-analyze", "syscall-filter", "--no-pager").stdout.split("\n")) {
    if (line.startsWith("@")) groups.set(line.trim(), (members = []));
    else if (/^ +[@\w]/.test(line)) members.push(line.trim());
  }
  const callsOf = (group: string): string[] =>
    (groups.get(group) ?? []).flatMap((name) => (name.startsWith("@") ? callsOf(name) : [name]));
  const denied = new Set([...callsOf("@privileged"), ...callsOf("@resources")]);
  const service = callsOf("@system-service").filter((call) => !denied.has(call));
  return new Set([...service, ...callsOf("@default")]);
}

describe("the container", () => {
  const dockerfile = readFileSync(join(deploy, "Dockerfile"), "utf8");

  testWith(["hadolint"], "is built from a Dockerfile that hadolint has nothing against", () => {
    expect(run("hadolint", "--no-color", join(deploy, "Dockerfile"))).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  test("runs as a numbered user that is not root, from an image without a shell, and is asked for its health", () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
    expect(last).toMatch(/^FROM gcr\.io\/distroless\/\S+:nonroot$/m);
    expect(last).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(last).toMatch(/^VOLUME \/data$/m);
    expect(last).toMatch(/^HEALTHCHECK .*\["leadfile", "health"\]$/m);
    expect(last).not.toMatch(/^RUN /m);
  });

  test("is built with the Bun that the project is made for", () => {
    const wanted = /bun@([\d.]+)/.exec(readFileSync(join(deploy, "../.ci/run"), "utf8"))?.[1];
    expect(dockerfile).toContain(`FROM oven/bun:${wanted}-slim AS build`);
  });

  test("is composed so that nothing but its volume can be written", () => {
    const enclosed = { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] };
    const compose: unknown = Bun.YAML.parse(readFileSync(join(deploy, "compose.yaml"), "utf8"));
    expect(compose).toMatchObject({
      services: {
        leadfile: {
          build: { context: "..", dockerfile: "deploy/Dockerfile" },
          environment: { TRUST_PROXY: "1" },
          volumes: ["data:/data"],
          ...enclosed,
        },
        receive: { image: "leadfile", command: ["receive"], environment: { TRUST_PROXY: "1" }, ...enclosed },
        inbox: { image: "leadfile", command: ["inbox", "/inbox"], ...enclosed },
        proxy: { depends_on: { leadfile: { condition: "service_healthy" } } },
      },
      volumes: { data: null },
    });
    expect(compose).not.toHaveProperty("services.leadfile.ports");
  });

  testWith(
    ["root", "unshare", "chroot", "mount", "ldd"],
    "needs the C library alone, and no root to write in",
    async () => {
      const { root, box } = anImage();
      const PORT = String(await aFreePort());
      const inside = ["unshare", "--mount", "sh", box, root, PORT, "/usr/local/bin/leadfile"];
      const server = start({}, aFolder(), [...inside, "serve"]);
      expect(await server.listening()).toBe(`http://0.0.0.0:${PORT}`);
      expect(run(...inside, "health")).toEqual({ status: 0, stdout: "", stderr: "" });
      expect(run(...inside, "account", "create", "acme").stdout).toMatch(/^acc_/);
      expect(await server.end("SIGTERM")).toBe(0);
      expect(run(...inside, "health")).toMatchObject({ status: 1, stderr: expect.stringContaining("leadfile serve") });
      expect(readdirSync(root).toSorted()).toEqual(["data", "dev", "lib", "lib64", "proc", "usr"]);
      expect(statSync(join(root, "data/leadfile.db")).uid).toBe(65_532);
    },
  );
});

/** A root like that of the image: the executable, the C library, and a folder of data for the user. */
function anImage(): { root: string; box: string } {
  const root = aFolder();
  for (const folder of ["usr/local/bin", "data", "proc", "dev"]) mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(theExecutable(), join(root, "usr/local/bin/leadfile"));
  for (const [, library = ""] of run("ldd", theExecutable()).stdout.matchAll(/(\/\S+) \(0x/g)) {
    mkdirSync(join(root, library, ".."), { recursive: true });
    copyFileSync(library, join(root, library));
  }
  // Whoever opened a database in this process made its mask that of a private one.
  run("chmod", "-R", "755", root);
  chmodSync(join(root, "data"), 0o700);
  chownSync(join(root, "data"), 65_532, 65_532);
  const box = join(aFolder(), "box.sh");
  writeFileSync(
    box,
    `set -e
root=$1; port=$2; shift 2
mount --bind "$root" "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$root/data" "$root/data"
mount -o remount,bind,ro "$root"
chroot=$(command -v chroot)
exec env -i HOST=0.0.0.0 TRUST_PROXY=1 PORT="$port" DATABASE_PATH=/data/leadfile.db \\
  "$chroot" --userspec=65532:65532 "$root" "$@"
`,
  );
  return { root, box };
}
