/** docs/operations.md and docs/operations-data.md: their commands run, and their lists are complete. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aClone, argumentsOf, blocksOf } from "../docs/walkthrough.ts";
import { anAdmin } from "../support/admin.ts";
import { aFreePort } from "../support/free-port.ts";
import { serve } from "../support/harness.ts";
import { runNow, start } from "../support/process.ts";

const root = join(import.meta.dir, "../..");
const text = readFileSync(join(root, "docs/operations.md"), "utf8");
const blocks = blocksOf(text).filter(({ info }) => info !== "" && !/^(?:ini|yaml)/.test(info));
const needsMore = ({ info }: { info: string }) => /needs=|debian/.test(info);

test("every block is for the shell, and says what it needs", () => {
  expect(blocks.length).toBeGreaterThan(10);
  const known = /^sh(?: server| debian(?:-www)?(?: proxy=\w+)?| needs=(?:docker|podman|litestream))?$/;
  expect(blocks.map(({ info }) => info).filter((info) => !known.test(info))).toEqual([]);
});

test.each(blocks.filter(needsMore))("a block $info has no syntax error", ({ text: commands }) => {
  const read = Bun.spawnSync(["bash", "-n", "-c", commands]);
  expect([read.exitCode, read.stderr.toString()]).toEqual([0, ""]);
});

test("the blocks that need only Bun run, one after the other, in a new folder", async () => {
  const folder = aClone();
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "secret.txt"), "the secret that a vendor signs with\n");
  symlinkSync(process.execPath, join(folder, "bin/bun"));
  const port = String(await aFreePort());
  const env = { PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`, HOME: folder };
  let server: ReturnType<typeof start> | null = null;
  for (const { info, text: commands } of blocks.filter((block) => !needsMore(block))) {
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
  // `bun start` passes the signal on to the server; a kill would leave it running.
  expect(await server?.end("SIGTERM")).toBe(0);
});

test("every command of the page on data ends with 0, in its order", async () => {
  const page = readFileSync(join(root, "docs/operations-data.md"), "utf8").replaceAll(/^ +/gm, "");
  const lines = blocksOf(page).flatMap(({ info, text }) => (info === "sh" ? text.trim().split("\n") : []));
  const admin = anAdmin();
  await admin.import("email,pixel_id,date\ndana@example.com,px,2026-01-31\nrobin@example.com,px,2026-02-01\n");
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const backups = join(admin.folder, "backups");
  mkdirSync(backups);
  expect(lines.length).toBeGreaterThan(12);
  const erased = await admin.run("lead", "erase", "acme", "--email", "somebody@example.com");
  admin.put("receipts.ndjson", erased.stdout);
  for (const line of lines) {
    // The server is not a service here.
    if (line.startsWith("systemctl ")) continue;
    const here = line
      .replaceAll("/var/backups/leadfile", backups)
      .replaceAll("KEY_ID", id)
      // The day may end between a backup and its restore.
      .replaceAll("$(date +%F)", "2026-05-20")
      // The leads of this test grow old.
      .replace("--days 365", "--days 36500");
    const input = line.includes("--email -") ? "dana@example.com\n" : "";
    const [command = ""] = here.split(/ >>? /);
    const { status, stderr } = line.startsWith("bun admin ")
      ? await admin.give(input, ...argumentsOf(command))
      : runNow("sh", "-c", here);
    expect({ line, status, stderr: status === 0 ? "" : stderr }).toEqual({ line, status: 0, stderr: "" });
  }
  expect((await admin.leads()).map(({ email }) => email)).toEqual(["robin@example.com"]);
});

test("every file of deploy/ that a command names exists", () => {
  const named = new Set([...text.matchAll(/\bdeploy\/[\w./-]*\w/g)].map(([path]) => path));
  expect(named.size).toBeGreaterThan(4);
  for (const path of named) expect(() => readFileSync(join(root, path))).not.toThrow();
});

describe("the page names", () => {
  const namesIn = (heading: string): string[] => {
    const section = text.slice(text.indexOf(`\n## ${heading}`)).split(/\n## /)[1] ?? "";
    return [...section.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name).filter((name) => /[a-z]/.test(name));
  };

  test("every line of doctor, in its order", async () => {
    const { stdout } = await anAdmin(["acme"], { PORT: String(await aFreePort()) }).run("doctor");
    const lines = [...stdout.matchAll(/^(?:fine|warning|broken) +(\w+) /gm)].map(([, line = ""]) => line);
    // There is neither a certificate nor a server, and no retention waits for a person.
    const named = namesIn("Check the installation").filter((name) => name !== "retention");
    expect(named).toEqual([...lines, "tls", "server"]);
  });

  test("every metric", async () => {
    const { url } = await serve();
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const names = [...metrics.matchAll(/^# TYPE (\w+) /gm)].map(([, name = ""]) => name);
    const named = namesIn("Metrics").filter((name) => /^(?:leadfile|process)_/.test(name));
    expect(named.toSorted()).toEqual(names.toSorted());
  });
});
