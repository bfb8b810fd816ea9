/** Clients that others' generators make of /openapi.json read a running server. */
import { expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aLead } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";

const root = join(import.meta.dir, "../..");

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly said: string;
}

async function run(cwd: string, ...command: string[]): Promise<Ended> {
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status, stdout, said: stdout + stderr };
}

/** A server with leads of three pages, and its description in a file. */
async function aServedDescription() {
  const names = ["Ada", "Ben", "Cleo", "Dan", "Eve"];
  const others = [aLead({ state: "NV" }), aLead({ email: null })];
  const server = await serve({ leads: [...names.map((name) => aLead({ name })), ...others] });
  const folder = aFolder();
  const file = join(folder, "openapi.json");
  writeFileSync(file, await (await fetch(`${server.url}/openapi.json`)).text());
  const expected = {
    names: names.map((name) => name.toUpperCase()).toReversed(),
    pixels: ["px_site active"],
    requests: 5,
    code: "invalid_parameter",
  };
  return { folder, file, url: server.url, key: server.aKey(), expected };
}

const generatorHome = join(import.meta.dir, "typescript");
const generator = join(generatorHome, "node_modules/openapi-typescript/bin/cli.js");
if (!existsSync(generator)) await run(generatorHome, process.execPath, "install", "--frozen-lockfile", "--silent");
const hasGenerator = existsSync(generator);

test.skipIf(!hasGenerator)(
  `openapi-typescript and openapi-fetch give a client that the compiler checks${hasGenerator ? "" : " (skipped: openapi-typescript could not be installed)"}`,
  async () => {
    const { folder, file, url, key, expected } = await aServedDescription();
    const schema = join(folder, "schema.d.ts");
    expect(await run(folder, process.execPath, generator, file, "-o", schema)).toMatchObject({ status: 0 });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    copyFileSync(join(root, "tsconfig.json"), join(folder, "base.json"));
    writeFileSync(join(folder, "tsconfig.json"), '{"extends":"./base.json","include":["reader.ts"],"exclude":[]}');
    copyFileSync(join(generatorHome, "reader.ts"), join(folder, "reader.ts"));
    const check = () => run(folder, process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", folder);
    expect(await check()).toEqual({ status: 0, stdout: "", said: "" });
    const ended = await run(folder, process.execPath, "reader.ts", url, key);
    expect({ said: ended.said, json: JSON.parse(ended.stdout || "null") }).toMatchObject({ json: expected });

    const wrong = readFileSync(join(folder, "reader.ts"), "utf8").replace("limit: 101", "limmit: 101");
    writeFileSync(join(folder, "reader.ts"), wrong);
    expect(await check()).toMatchObject({ status: expect.any(Number), said: expect.stringContaining("limmit") });
  },
);

// .ci/run puts it into .venv; elsewhere: python3 -m venv .venv && .venv/bin/pip install openapi-python-client
const searched = `${join(root, ".venv/bin")}:${process.env["PATH"] ?? ""}`;
const pythonGenerator = Bun.which("openapi-python-client", { PATH: searched });

test.skipIf(pythonGenerator === null)(
  `openapi-python-client gives a package that Python runs${pythonGenerator === null ? " (skipped: no openapi-python-client in .venv or on the path)" : ""}`,
  async () => {
    const { folder, file, url, key, expected } = await aServedDescription();
    const generated = await run(
      folder,
      pythonGenerator ?? "",
      "generate",
      ...["--path", file, "--meta", "none", "--output-path", "leadfile_client"],
    );
    expect(generated.status).toBe(0);
    copyFileSync(join(import.meta.dir, "python/reader.py"), join(folder, "reader.py"));
    const python = join(pythonGenerator ?? "", "../python3");
    const ended = await run(folder, existsSync(python) ? python : "python3", "reader.py", url, key);
    expect({ said: ended.said, json: JSON.parse(ended.stdout || "null") }).toMatchObject({ json: expected });
  },
);
