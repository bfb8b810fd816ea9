/** deploy/systemd: systemd accepts the units, and their filter allows the system calls of the program. */
import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { theExecutable } from "../../support/executable.ts";
import { aFolder } from "../../support/folder.ts";
import { client } from "../../support/harness.ts";
import { needing } from "../../support/needing.ts";
import { runNow, start } from "../../support/process.ts";

const units = join(import.meta.dir, "../../../deploy/systemd");
const analyzed = needing("systemd-analyze");

beforeAll(() => void theExecutable());

describe("the units of systemd", () => {
  analyzed("are accepted by systemd without a warning, with an exposure level below 2.5", () => {
    const services = readdirSync(units).filter((name) => name.endsWith(".service"));
    expect(services).toHaveLength(3);
    const folder = aFolder();
    for (const name of services) {
      const { stdout } = runNow("systemd-analyze", "security", "--offline=yes", "--no-pager", join(units, name));
      expect(Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1] ?? Number.NaN)).toBeLessThan(2.5);
      const text = readFileSync(join(units, name), "utf8");
      writeFileSync(join(folder, name), text.replaceAll("/usr/local/bin/leadfile", theExecutable()));
    }
    const files = services.map((name) => join(folder, name));
    expect(runNow("systemd-analyze", "verify", "--man=no", ...files)).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  test("pass no setting on a command line, which every user of the machine can read", () => {
    for (const name of readdirSync(units).filter((unit) => unit.endsWith(".service"))) {
      const commands = readFileSync(join(units, name), "utf8").match(/^Exec\w+=.*$/gm) ?? [];
      expect(commands.length).toBeGreaterThan(0);
      for (const command of commands) expect(command).not.toContain("$");
    }
  });

  const installing = needing("systemd-sysusers", "systemd-tmpfiles", "root");
  installing("create a user and its folders", () => {
    const root = aFolder();
    for (const folder of ["etc", "var/lib", "var/backups"]) mkdirSync(join(root, folder), { recursive: true });
    runNow("systemd-sysusers", `--root=${root}`, join(units, "leadfile-sysusers.conf"));
    const [, uid] = /^leadfile:x:(\d+):/m.exec(readFileSync(join(root, "etc/passwd"), "utf8")) ?? [];
    expect(runNow("systemd-tmpfiles", `--root=${root}`, "--create", join(units, "leadfile-tmpfiles.conf")).status).toBe(
      0,
    );
    for (const folder of ["var/lib/leadfile", "var/lib/leadfile/inbox", "var/backups/leadfile"]) {
      const { mode, uid: owner } = statSync(join(root, folder));
      expect([(mode & 0o777).toString(8), owner]).toEqual(["700", Number(uid)]);
    }
  });
});

needing("systemd-analyze", "strace")(
  "the service may make every system call of the server and of an import",
  async () => {
    const folder = aFolder();
    // As a daemon it keeps the process ID for the program, so that a signal reaches that.
    const strace = ["strace", "--daemonize", "--follow-forks", "--quiet=all", "--output"];
    const traced = (name: string) => [...strace, join(folder, name)];
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
    // Only as root does SQLite give its log to the owner of the file. The service does not run as root.
    made.delete("fchown");
    // The unit allows it by name, because an import lowers its priority.
    made.delete("setpriority");
    const denied = [...made].filter((call) => !allowedCalls().has(call));
    expect(denied).toEqual([]);
  },
);

/** Returns the calls that the filter allows: system services and the default, without privileges and resources. */
function allowedCalls(): ReadonlySet<string> {
  const groups = new Map<string, string[]>();
  let members: string[] = [];
  for (const line of runNow("systemd-analyze", "syscall-filter", "--no-pager").stdout.split("\n")) {
    if (line.startsWith("@")) groups.set(line.trim(), (members = []));
    else if (/^ +[@\w]/.test(line)) members.push(line.trim());
  }
  const callsOf = (group: string): string[] =>
    (groups.get(group) ?? []).flatMap((name) => (name.startsWith("@") ? callsOf(name) : [name]));
  const denied = new Set([...callsOf("@privileged"), ...callsOf("@resources")]);
  const service = callsOf("@system-service").filter((call) => !denied.has(call));
  return new Set([...service, ...callsOf("@default")]);
}
