/** docs/operations.md: its commands run, and its tables name what there is. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { start } from "../support/process.ts";
import { aFreePort } from "../support/proxy.ts";

const root = join(import.meta.dir, "../..");
const text = readFileSync(join(root, "docs/operations.md"), "utf8");

interface Block {
  readonly info: string;
  readonly commands: string;
}

const blocks: readonly Block[] = [...text.matchAll(/^```(?!ini)(\S.*)\n([\s\S]*?)^```$/gm)].map(
  ([, info = "", commands = ""]) => ({ info, commands }),
);

/** A folder that looks like a checkout, with data of its own. */
function aCheckout(): string {
  const folder = aFolder();
  for (const name of [
    "package.json",
    "bun.lock",
    "bunfig.toml",
    "node_modules",
    "src",
    "extensions",
    "packages",
    "drizzle",
    "deploy",
  ]) {
    symlinkSync(join(root, name), join(folder, name));
  }
  mkdirSync(join(folder, "bin"));
  symlinkSync(process.execPath, join(folder, "bin/bun"));
  return folder;
}

test("every block is for the shell, and says what it needs where a test cannot give it", () => {
  expect(blocks.length).toBeGreaterThan(10);
  const known = /^sh(?: server| debian(?: proxy=\w+)?| needs=(?:docker|litestream))?$/;
  expect(blocks.map(({ info }) => info).filter((info) => !known.test(info))).toEqual([]);
});

test.each(blocks.filter(({ info }) => /needs=|debian/.test(info)).map(({ commands, info }) => [info, commands]))(
  "a block %s is read by the shell without a complaint",
  (_, commands) => {
    const read = Bun.spawnSync(["bash", "-n", "-c", commands]);
    expect([read.exitCode, read.stderr.toString()]).toEqual([0, ""]);
  },
);

test("the blocks that need nothing but Bun run, one after the other, in a fresh folder", async () => {
  const folder = aCheckout();
  const port = String(await aFreePort());
  const env = { PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`, HOME: folder };
  let server: ReturnType<typeof start> | null = null;
  for (const { info, commands } of blocks.filter(({ info }) => !/needs=|debian/.test(info))) {
    if (info === "sh server") {
      expect(commands).toBe("bun start\n");
      server = start({ PORT: port, ...env }, folder, ["bun", "start"]);
      await server.listening();
      continue;
    }
    const here = commands.replaceAll(":3000", `:${port}`);
    const ran = Bun.spawnSync(["bash", "-euo", "pipefail", "-c", here], { cwd: folder, env: { ...env, PORT: port } });
    expect([commands, ran.exitCode, ran.exitCode === 0 ? "" : `${ran.stdout}${ran.stderr}`]).toEqual([commands, 0, ""]);
  }
  // `bun start` hands the signal on to the server; killed, it would leave it running.
  expect(await server?.end("SIGTERM")).toBe(0);
});

test("every file of deploy/ that a command names is there", () => {
  const named = new Set([...text.matchAll(/\bdeploy\/[\w./-]*\w/g)].map(([path]) => path));
  expect(named.size).toBeGreaterThan(4);
  for (const path of named) expect(() => readFileSync(join(root, path))).not.toThrow();
});

describe("the page names", () => {
  const namesIn = (heading: string): string[] => {
    const section = text.slice(text.indexOf(`\n## ${heading}`)).split(/\n## /)[1] ?? "";
    return [...section.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
  };

  test("every line of doctor, in its order", async () => {
    const { stdout } = await anAdmin(["acme"], { PORT: String(await aFreePort()) }).run("doctor");
    const lines = [...stdout.matchAll(/^(?:fine|warning|broken) +(\w+) /gm)].map(([, line = ""]) => line);
    // Neither a certificate nor a server is there to be looked at.
    expect(namesIn("doctor, line by line")).toEqual([...lines, "tls", "server"]);
  });

  test("every metric", async () => {
    const { url } = await serve();
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const names = [...metrics.matchAll(/^# TYPE (\w+) /gm)].map(([, name = ""]) => name);
    expect(namesIn("Metrics").toSorted()).toEqual(names.toSorted());
  });
});
