/** deploy/systemd: the filter of system calls lets through what the program makes. */
import { beforeAll, expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { theExecutable } from "../../support/executable.ts";
import { aFolder } from "../../support/folder.ts";
import { client } from "../../support/harness.ts";
import { needing } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { run } from "./run.ts";

beforeAll(() => void theExecutable());

needing("systemd-analyze", "strace")("the service may make every system call that server and import make", async () => {
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
