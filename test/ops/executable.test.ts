/** `bun run build` and `bun run release`: one file is the server and the admin command, and needs no other file. */
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkedOutCommit, compile } from "../../deploy/build.ts";
import { createSbom, licensesText, packagesIn } from "../../deploy/sbom.ts";
import { version } from "../../package.json";
import { theExecutable } from "../support/executable.ts";
import { aFolder } from "../support/folder.ts";
import { aFreePort } from "../support/free-port.ts";
import { needing, unless } from "../support/needing.ts";
import { start } from "../support/process.ts";
import { theProgram } from "../support/program.ts";
import { aSharedFolder } from "../support/run.ts";

const root = join(import.meta.dir, "../..");

const rows = 3_000;
const csv = [
  "email,identified_at,pixel_id",
  ...Array.from({ length: rows }, (_, number) => `v${number}@example.com,2026-01-01T00:00:00Z,px_home`),
].join("\n");

beforeAll(() => void theExecutable());

/** Runs a command in a folder with an empty environment, or that of an emulator. */
async function run(folder: string, args: readonly string[], input = "", program = [theExecutable()], env = {}) {
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

describe("the executable, alone in an empty folder and with an empty environment,", () => {
  test("prints its version and commit", async () => {
    const { stdout, stderr, status } = await run(aFolder(), ["--version"]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toMatch(new RegExp(`^${version.replaceAll(".", "\\.")} \\([0-9a-f]{7}\\+?\\)\n$`));
  });

  test("calls itself leadfile in its help, advice, and errors", async () => {
    const folder = aFolder();
    const lines = ["--help", "lead import --help", "key create nobody", "nonsense"];
    const said = await Promise.all(lines.map((line) => run(folder, line.split(" "))));
    const text = said.map(({ stdout, stderr }) => stdout + stderr).join("");
    for (const command of ["account create acme", "account create NAME", "--help"])
      expect(text).toContain(`leadfile ${command}`);
    expect(text).not.toMatch(/\bbun\b/);
    expect(said.map(({ status }) => status)).toEqual([0, 0, 1, 2]);
  });

  test("creates an account and a key, imports, exports, and serves the leads", async () => {
    const folder = aFolder();
    expect((await run(folder, ["account", "create", "acme"])).stdout).toMatch(/^acc_\w+\n$/);
    const imported = await run(folder, ["lead", "import", "acme", "-", "--create-pixels", "--json"], csv);
    expect(JSON.parse(imported.stdout)).toMatchObject({ read: rows, imported: rows, moved: rows - 1 });
    const key = (await run(folder, ["key", "create", "acme"])).stdout.trim();
    const exported = (await run(folder, ["lead", "export", "acme"])).stdout.trimEnd().split("\n");
    expect(exported).toHaveLength(rows);

    const server = start({}, folder, [theExecutable(), "serve"]);
    const url = await server.listening();
    const headers = { Authorization: `Bearer ${key}` };
    const page = await (await fetch(`${url}/api/v1/leads?limit=1`, { headers })).json();
    expect(page).toMatchObject({ data: [JSON.parse(exported.at(-1) ?? "")], has_more: true });
    for (const path of ["/docs", "/docs/try", "/docs/try/swagger-ui.js", "/openapi.json", "/metrics", "/healthz"]) {
      expect((await fetch(url + path)).status).toBe(200);
    }
    for (const path of ["/docs", "/openapi.json"]) {
      const text = await (await fetch(url + path)).text();
      expect([text.includes("leadfile key create"), text.includes("bun admin")]).toEqual([true, false]);
    }
    expect(await server.end("SIGTERM")).toBe(0);
    expect(readdirSync(folder)).toEqual(["data"]);
  });

  test("reads .env like the server from sources, and runs no code of its folder", async () => {
    const folder = aFolder();
    writeFileSync(join(folder, ".env"), "DATABASE_PATH=elsewhere.db\n");
    writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./strange.ts"]\n');
    writeFileSync(join(folder, "strange.ts"), 'console.log("strange");\n');
    expect((await run(folder, ["account", "create", "acme"])).stdout).not.toContain("strange");
    expect(readdirSync(folder)).toContain("elsewhere.db");
  });
});

describe("the server of the executable", () => {
  test("reports with health whether the server responds and can read its database", async () => {
    const folder = aFolder();
    const PORT = String(await aFreePort());
    writeFileSync(join(folder, ".env"), `PORT=${PORT}\n`);
    const line = (text: RegExp) => ({ stdout: "", stderr: expect.stringMatching(text), status: 1 });
    expect(await run(folder, ["health"])).toEqual(line(/^No server responds[^\n]+\n$/));
    await start({ PORT }, folder, [theExecutable(), "serve"]).listening();
    expect(await run(folder, ["health"])).toEqual({ stdout: "", stderr: "", status: 0 });
    writeFileSync(join(folder, "data/leadfile.db"), "overwritten by something else");
    expect(await run(folder, ["health"])).toEqual(line(/^The server cannot read its database[^\n]+\n$/));
  });

  test("erases leads that are older than the retention, in a thread", async () => {
    const folder = aFolder();
    await run(folder, ["account", "create", "acme"]);
    await run(folder, ["lead", "import", "acme", "-", "--create-pixels"], csv);
    const database = new Database(join(folder, "data/leadfile.db"));
    database.run("UPDATE accounts SET retain_days = 1");
    // What is more than half of the leads waits for a person.
    database.run("UPDATE stored_leads SET identified_at = 1000 * unixepoch() - number WHERE number > 1000");
    database.close();
    const server = start({ LOG_LEVEL: "info" }, folder, [theExecutable(), "serve"]);
    await server.listening();
    await server.said(/"erased":1000/);
  });

  test("serves made-up leads with --demo, from another file", async () => {
    const folder = aFolder();
    const server = start({}, folder, [theExecutable(), "serve", "--demo"]);
    const [, key] = await server.said(/LEADFILE_KEY=(lf_\w+)/);
    const headers = { Authorization: `Bearer ${key}` };
    expect((await fetch(`${await server.listening()}/api/v1/leads`, { headers })).status).toBe(200);
    expect(readdirSync(join(folder, "data"))).toContain("demo.db");
  });
});

test("the executable loads every command, and shows its help", async () => {
  const names = (await theProgram()).commands.map((command) => command.name());
  const folder = aFolder();
  for (let next = 0; next < names.length; next += 4) {
    const some = names.slice(next, next + 4);
    const helps = await Promise.all(some.map((name) => run(folder, [name, "--help"])));
    const usages = helps.map(({ stdout, status }) => [stdout.split(/ [[<\n]|\n/)[0], status]);
    expect(usages).toEqual(some.map((name) => [`Usage: leadfile ${name}`, 0]));
    for (const { stdout } of helps) {
      const [, examples = ""] = stdout.split("\nExamples:\n");
      for (const line of examples.split("\n").filter((one) => one.startsWith("  ")))
        expect(line).toMatch(/^ {2}leadfile |\| leadfile /);
    }
  }
  expect(readdirSync(folder)).toEqual([]);
});

const armLibraries = "/usr/aarch64-linux-gnu";
const muslLibraries = join(process.env["HOME"] ?? "", ".cache/leadfile-tools/musl");
const musl = join(muslLibraries, "ld-musl-x86_64.so.1");
const hasEmulator = Bun.which("qemu-aarch64") !== null && existsSync(armLibraries);
const isLinuxX64 = process.platform === "linux" && process.arch === "x64";

const forMusl = existsSync(musl) ? null : "needs musl, with the libstdc++ of Alpine";
const forArm = hasEmulator ? null : "needs qemu-user and libc6-arm64-cross";

// An emulated start takes seconds.
for (const [target, emulator, env, missing] of [
  ["bun-linux-x64-baseline", [], {}, isLinuxX64 ? null : "needs Linux on x64"],
  ["bun-linux-x64-musl-baseline", [musl], { LD_LIBRARY_PATH: muslLibraries }, forMusl],
  ["bun-linux-arm64", ["qemu-aarch64"], { QEMU_LD_PREFIX: armLibraries }, forArm],
] as const)
  unless(missing)(`the release for ${target} creates a demo, and serves its leads`, async () => {
    const file = join(aSharedFolder(), target, "leadfile");
    mkdirSync(join(file, ".."));
    compile(file, checkedOutCommit(), target);
    const [folder, program] = [aFolder(), [...emulator, file]];
    const { key } = JSON.parse((await run(folder, ["demo", "--json"], "", program, env)).stdout);
    const server = start(env, folder, [...program, "serve"]);
    const headers = { Authorization: `Bearer ${key}` };
    const answer = await fetch(`${await server.listening()}/api/v1/leads?limit=1`, { headers });
    expect(await answer.json()).toMatchObject({ data: [{ pixel_id: expect.stringMatching(/^px_/) }], has_more: true });
    expect(await server.end("SIGTERM")).toBe(0);
    expect(readdirSync(folder)).toEqual(["data"]);
  });

const isClean = existsSync(join(root, ".git")) && !checkedOutCommit().endsWith("+");

/** Makes a release for one platform, and returns its folder. */
function aRelease(...options: readonly string[]) {
  const out = join(aFolder(), "release");
  const words = ["deploy/release.ts", "--only", "linux-x64", "--out", out, ...options];
  const ended = Bun.spawnSync([process.execPath, ...words], { cwd: root });
  return { out, status: ended.exitCode, stderr: ended.stderr.toString() };
}

unless(isClean ? null : "needs a clean clone")(
  "two releases of a commit have the same bytes, and every link resolves",
  () => {
    const [one, other] = [aRelease(), aRelease()];
    expect([one, other]).toMatchObject([
      { status: 0, stderr: "" },
      { status: 0, stderr: "" },
    ]);
    const sums = readFileSync(join(one.out, "SHA256SUMS"), "utf8");
    expect(readFileSync(join(other.out, "SHA256SUMS"), "utf8")).toBe(sums);
    const inFolder = { cwd: one.out };
    expect(Bun.spawnSync(["sha256sum", "--check", "--strict", "SHA256SUMS"], inFolder).exitCode).toBe(0);
    const archive = readdirSync(one.out).find((name) => name.endsWith(".tar.gz")) ?? "";
    expect(Bun.spawnSync(["tar", "-xzf", archive], inFolder).exitCode).toBe(0);
    const unpacked = join(one.out, archive.replace(".tar.gz", ""));
    const files =
      "leadfile LICENSE THIRD_PARTY deploy/install.sh deploy/systemd/leadfile.service examples/leads-to-csv.ts";
    for (const name of files.split(" ")) expect(existsSync(join(unpacked, name))).toBe(true);
    expect(readFileSync(join(unpacked, "THIRD_PARTY"), "utf8")).toContain("Copyright");
    const pages = [...new Bun.Glob("**/*.md").scanSync(unpacked)];
    expect(pages.length).toBeGreaterThan(10);
    const broken = pages.flatMap((page) => {
      const links = readFileSync(join(unpacked, page), "utf8").matchAll(/\]\((?!https?:|#)([^)#\s]+)/g);
      const targets = [...links].map(([, target = ""]) => join(unpacked, page, "..", target));
      return targets.filter((target) => !existsSync(target)).map((target) => `${page}: ${target}`);
    });
    expect(broken).toEqual([]);
  },
);

unless(isClean ? null : "needs a clean clone")("a release is signed only with the key in SECURITY.md", () => {
  const key = join(aFolder(), "key");
  Bun.spawnSync(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key]);
  const refused = aRelease("--sign-key", key);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("not the release key in SECURITY.md")]);
  expect(existsSync(refused.out)).toBe(false);
});

needing("ssh-keygen")("the signature of a release is verified as SECURITY.md says, and not after a change", () => {
  const folder = aFolder();
  Bun.spawnSync(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", join(folder, "key")]);
  writeFileSync(join(folder, "SHA256SUMS"), "0123  leadfile\n");
  const sign = ["ssh-keygen", "-Y", "sign", "-q", "-f", "key", "-n", "leadfile", "SHA256SUMS"];
  expect(Bun.spawnSync(sign, { cwd: folder }).exitCode).toBe(0);
  const page = readFileSync(join(root, "SECURITY.md"), "utf8");
  const [, commands = ""] = /^```sh\n(echo [\s\S]+?)^```/m.exec(page) ?? [];
  const [kind, key] = readFileSync(join(folder, "key.pub"), "utf8").split(" ");
  const verify = () =>
    Bun.spawnSync(["sh", "-ec", commands.replace(/ssh-ed25519 \S+(?=")/, `${kind} ${key}`)], { cwd: folder });
  expect(verify().stdout.toString()).toContain("Good");
  writeFileSync(join(folder, "SHA256SUMS"), "4567  leadfile\n");
  expect(verify().exitCode).not.toBe(0);
});

test("the bill of materials and the licenses name every package inside the executable, and no other", () => {
  const packages = packagesIn(root);
  const { components } = createSbom(packages, "1.2.3", "a1b2c3d");
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["bun", "elysia", "drizzle-orm", "commander", "swagger-ui-dist"]));
  // The last two are declared, but nothing imports them.
  expect(names.filter((name) => /^(@biomejs\/|typescript$|fast-check$|playwright|express$|hono$)/.test(name))).toEqual(
    [],
  );
  expect(new Set(components.map((component) => component["bom-ref"])).size).toBe(names.length);
  for (const { name, sha512, license } of packages)
    expect([name, sha512.length, license]).toEqual([name, 128, license]);
  const text = licensesText(packages);
  for (const { name, version: installed, texts } of packages) {
    expect(text).toContain(`${name} ${installed} (`);
    for (const one of texts) expect(text).toContain(one);
  }
});
