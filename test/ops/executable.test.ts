/** `bun run build`: one file that is the server and the admin command, and needs nothing beside it. */
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { theExecutable } from "../support/executable.ts";
import { aFolder } from "../support/folder.ts";
import { start } from "../support/process.ts";
import { aFreePort } from "../support/proxy.ts";

const rows = 3_000;
const csv = [
  "email,identified_at,pixel_id",
  ...Array.from({ length: rows }, (_, number) => `v${number}@example.com,2026-01-01T00:00:00Z,px_home`),
].join("\n");

beforeAll(() => void theExecutable());

/** Runs it to its end in a folder, with nothing in its environment. */
async function run(folder: string, args: readonly string[], input = "") {
  const child = Bun.spawn([theExecutable(), ...args], {
    cwd: folder,
    env: {},
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, status };
}

describe("the executable, alone in an empty folder and with an empty environment,", () => {
  test("says its version and commit", async () => {
    const { stdout, stderr, status } = await run(aFolder(), ["--version"]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toMatch(new RegExp(`^${version.replaceAll(".", "\\.")} \\([0-9a-f]{7}\\+?\\)\n$`));
  });

  test("calls itself by its own name, in help, advice and refusals", async () => {
    const folder = aFolder();
    const said = await Promise.all([
      run(folder, ["--help"]),
      run(folder, ["lead", "import", "--help"]),
      run(folder, ["key", "create", "nobody"]),
      run(folder, ["nonsense"]),
    ]);
    const text = said.map(({ stdout, stderr }) => stdout + stderr).join("");
    expect(text).toContain("leadfile account create acme");
    expect(text).toContain("leadfile account create NAME");
    expect(text).toContain("leadfile --help");
    expect(text).not.toMatch(/\bbun\b/);
    expect(said.map(({ status }) => status)).toEqual([0, 0, 1, 2]);
  });

  test("makes an account, imports, makes a key, exports, and serves what it imported", async () => {
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

  test("reads a .env like the server from sources, and runs no code that lies there", async () => {
    const folder = aFolder();
    writeFileSync(join(folder, ".env"), "DATABASE_PATH=elsewhere.db\n");
    writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./strange.ts"]\n');
    writeFileSync(join(folder, "strange.ts"), 'console.log("strange");\n');
    expect((await run(folder, ["account", "create", "acme"])).stdout).not.toContain("strange");
    expect(readdirSync(folder)).toContain("elsewhere.db");
  });
});

describe("the server of the executable", () => {
  test("says with health whether its server is there and can read its database", async () => {
    const folder = aFolder();
    const PORT = String(await aFreePort());
    writeFileSync(join(folder, ".env"), `PORT=${PORT}\n`);
    const line = (text: RegExp) => ({ stdout: "", stderr: expect.stringMatching(text), status: 1 });
    expect(await run(folder, ["health"])).toEqual(line(/^No server answers[^\n]+\n$/));
    await start({ PORT }, folder, [theExecutable(), "serve"]).listening();
    expect(await run(folder, ["health"])).toEqual({ stdout: "", stderr: "", status: 0 });
    writeFileSync(join(folder, "data/leadfile.db"), "overwritten by something else");
    expect(await run(folder, ["health"])).toEqual(line(/^The server cannot read its database[^\n]+\n$/));
  });

  test("erases, in a thread, what is older than its account keeps", async () => {
    const folder = aFolder();
    await run(folder, ["account", "create", "acme"]);
    await run(folder, ["lead", "import", "acme", "-", "--create-pixels"], csv);
    const database = new Database(join(folder, "data/leadfile.db"));
    database.run("UPDATE accounts SET retain_days = 1");
    database.close();
    const server = start({ LOG_LEVEL: "info" }, folder, [theExecutable(), "serve"]);
    await server.listening();
    await server.said(/"erased":3000/);
  });

  test("says on an empty file what to do next", async () => {
    const server = start({}, aFolder(), [theExecutable(), "serve"]);
    await server.listening();
    expect(await server.end("SIGINT")).toBe(0);
    expect(server.errors()).toContain("leadfile account create NAME, then leadfile --help");
  });

  test("serves made-up leads with --demo, in a file of their own", async () => {
    const folder = aFolder();
    const server = start({}, folder, [theExecutable(), "serve", "--demo"]);
    const [, key] = await server.said(/LEADFILE_KEY=(lf_\w+)/);
    const headers = { Authorization: `Bearer ${key}` };
    expect((await fetch(`${await server.listening()}/api/v1/leads`, { headers })).status).toBe(200);
    expect(readdirSync(join(folder, "data"))).toContain("demo.db");
  });

  test("stops with one line and status 2 at a wrong setting", async () => {
    const server = start({ LOG_LEVEL: "loud" }, aFolder(), [theExecutable(), "serve"]);
    expect(await server.exited).toBe(2);
    expect(server.errors()).toMatch(/^LOG_LEVEL [^\n]*\n$/);
  });
});
