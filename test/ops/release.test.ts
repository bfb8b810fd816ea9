/** `bun run release`: downloads that run in an empty folder, the same bytes at every build. */
import { beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { checkedOutCommit, compile } from "../../deploy/build.ts";
import { createSbom } from "../../deploy/sbom.ts";
import { aFolder } from "../support/folder.ts";
import { unless } from "../support/needing.ts";
import { start } from "../support/process.ts";
import { theProgram } from "../support/program.ts";
import { aSharedFolder } from "../support/run.ts";

const root = join(import.meta.dir, "../..");

/** Every command line that shows a help, as words. */
function commandsBelow(command: Command): string[][] {
  return [[], ...command.commands.flatMap((child) => commandsBelow(child).map((rest) => [child.name(), ...rest]))];
}

interface Platform {
  readonly name: string;
  readonly target: string;
  /** What runs an executable of this platform here. */
  readonly emulator: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Why it cannot run here; null if it can. */
  readonly missing: string | null;
}

const armLibraries = "/usr/aarch64-linux-gnu";
const muslLibraries = join(process.env["HOME"] ?? "", ".cache/leadfile-tools/musl");
const isMuslHere = ["/lib/ld-musl-x86_64.so.1", muslLibraries].every((path) => existsSync(path));
const platforms: readonly Platform[] = [
  {
    name: "linux-x64",
    target: "bun-linux-x64-baseline",
    emulator: [],
    env: {},
    missing: process.platform === "linux" && process.arch === "x64" ? null : "needs Linux on x64",
  },
  {
    name: "linux-x64-musl",
    target: "bun-linux-x64-musl-baseline",
    emulator: [],
    env: { LD_LIBRARY_PATH: muslLibraries },
    missing: isMuslHere ? null : "needs musl, with the libstdc++ of Alpine",
  },
  {
    name: "linux-arm64",
    target: "bun-linux-arm64",
    emulator: ["qemu-aarch64"],
    env: { QEMU_LD_PREFIX: armLibraries },
    missing:
      Bun.which("qemu-aarch64") !== null && existsSync(armLibraries) ? null : "needs qemu-user and libc6-arm64-cross",
  },
];

for (const { name, target, emulator, env, missing } of platforms) {
  unless(missing).describe(`the executable for ${name}`, () => {
    let program: readonly string[] = [];

    beforeAll(() => {
      const file = join(aSharedFolder(), name, "leadfile");
      mkdirSync(join(file, ".."));
      compile(file, checkedOutCommit(), target);
      program = [...emulator, file];
    });

    /** Runs it to its end in a folder. */
    async function run(folder: string, args: readonly string[], input = "") {
      const child = Bun.spawn([...program, ...args], {
        cwd: folder,
        env,
        stdin: Buffer.from(input),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { stdout, stderr, status };
    }

    test("imports a file and serves its leads, in an empty folder", async () => {
      const folder = aFolder();
      await run(folder, ["account", "create", "acme"]);
      const csv = "email,identified_at\ndana@example.com,2026-01-31T09:15:00Z\n";
      const imported = await run(folder, ["lead", "import", "acme", "-", "--pixel", "px", "--create-pixels"], csv);
      expect(imported).toMatchObject({ status: 0 });
      const key = (await run(folder, ["key", "create", "acme"])).stdout.trim();
      const server = start(env, folder, [...program, "serve"]);
      const answer = await fetch(`${await server.listening()}/api/v1/leads`, {
        headers: { Authorization: `Bearer ${key}` },
      });
      expect(await answer.json()).toMatchObject({ data: [{ email: "dana@example.com" }], has_more: false });
      expect(await server.end("SIGTERM")).toBe(0);
      expect(readdirSync(folder)).toEqual(["data"]);
    });

    test("serves a demo", async () => {
      const server = start(env, aFolder(), [...program, "serve", "--demo"]);
      const [, key] = await server.said(/LEADFILE_KEY=(lf_\w+)/);
      const url = `${await server.listening()}/api/v1/leads?limit=1`;
      expect((await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).status).toBe(200);
    });

    test("shows the help of every command", async () => {
      const all = commandsBelow(await theProgram());
      // An emulated start takes seconds, and commands do not depend on the platform.
      const shown = name === "linux-x64" ? all : [[], ["lead", "import"], ["doctor"], ["backup"]];
      const folder = aFolder();
      for (let next = 0; next < shown.length; next += 4) {
        const some = shown.slice(next, next + 4);
        const helps = await Promise.all(some.map((words) => run(folder, [...words, "--help"])));
        for (const [place, { stdout, status }] of helps.entries()) {
          expect([some[place], status]).toEqual([some[place], 0]);
          expect(stdout).toContain(`Usage: ${["leadfile", ...(some[place] ?? [])].join(" ")}`);
        }
      }
      expect(readdirSync(folder)).toEqual([]);
    });
  });
}

const isClean = existsSync(join(root, ".git")) && !checkedOutCommit().endsWith("+");

unless(isClean ? null : "needs a clean clone")("two releases of a commit have the same bytes", () => {
  const [one, other] = [aFolder(), aFolder()].map((folder) => {
    const out = join(folder, "release");
    const ended = Bun.spawnSync([process.execPath, "deploy/release.ts", "--only", "linux-x64", "--out", out], {
      cwd: root,
    });
    expect([ended.exitCode, ended.stderr.toString()]).toEqual([0, ""]);
    return out;
  });
  const sums = readFileSync(join(one ?? "", "SHA256SUMS"), "utf8");
  expect(readFileSync(join(other ?? "", "SHA256SUMS"), "utf8")).toBe(sums);
  const check = Bun.spawnSync(["sha256sum", "--check", "--strict", "SHA256SUMS"], { cwd: one ?? "" });
  expect(check.exitCode).toBe(0);
  const archive = readdirSync(one ?? "").find((name) => name.endsWith(".tar.gz")) ?? "";
  const listed = Bun.spawnSync(["tar", "-tzf", archive], { cwd: one ?? "" }).stdout.toString();
  for (const name of [
    "leadfile\n",
    "LICENSE\n",
    "README.md\n",
    "deploy/install.sh\n",
    "deploy/systemd/leadfile.service\n",
  ]) {
    expect(listed).toContain(`-linux-x64/${name}`);
  }
});

test("the bill of materials names what the product needs, with digests, and nothing that only tests need", () => {
  const sbom = createSbom(readFileSync(join(root, "bun.lock"), "utf8"), "1.2.3", "a1b2c3d");
  const names = sbom.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["bun", "elysia", "drizzle-orm", "commander"]));
  expect(names.filter((name) => /^(@biomejs\/|typescript$|fast-check$|playwright)/.test(name))).toEqual([]);
  expect(new Set(sbom.components.map((component) => component["bom-ref"])).size).toBe(names.length);
});
