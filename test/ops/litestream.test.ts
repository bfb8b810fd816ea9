/** deploy/litestream.yml: what Litestream kept is the whole database, also after a kill of everything. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { eventually } from "../support/eventually.ts";
import { needing } from "../support/needing.ts";
import { runNow, start } from "../support/process.ts";

const configuration = readFileSync(join(import.meta.dir, "../../deploy/litestream.yml"), "utf8");
const rows = 2_000;

needing("litestream")("Litestream restores the database after it and the server were killed", async () => {
  const admin = anAdmin();
  const { folder, file } = admin;
  const here = configuration.replace("/var/lib/leadfile/leadfile.db", file).replace("/var/backups/leadfile", folder);
  const config = admin.put("litestream.yml", here);
  const server = start({ DATABASE_PATH: file }, folder);
  await server.listening();
  const replicating = start({}, folder, ["litestream", "replicate", "-config", config]);
  await replicating.said(/snapshot written/);
  const csv = Array.from({ length: rows }, (_, row) => `v${row}@example.com,2026-01-01,px`).join("\n");
  await admin.import(`email,identified_at,pixel_id\n${csv}`);
  const exported = await admin.exported();

  // It is a second behind: the copy is whole once it has what was there before the kill.
  const restored = join(folder, "restored.db");
  await eventually(async () => {
    const copy = `${restored}.${crypto.randomUUID()}`;
    expect(runNow("litestream", "restore", "-config", config, "-o", copy, file).status).toBe(0);
    expect((await leadsIn(copy)) === exported).toBe(true);
  });
  await replicating.end("SIGKILL");
  await server.end("SIGKILL");

  expect(runNow("litestream", "restore", "-config", config, "-o", restored, file).status).toBe(0);
  expect(await leadsIn(restored)).toBe(exported);
  const looked = await anAdmin([], { DATABASE_PATH: restored, PORT: "0" }).run("doctor", "--full", "--json");
  expect(looked.stdout).not.toContain("broken");
  expect(looked.stdout).toContain("No backup has been made");
});

const leadsIn = (file: string): Promise<string> => anAdmin([], { DATABASE_PATH: file }).exported();
