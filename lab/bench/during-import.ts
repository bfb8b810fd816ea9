/** Leadfile while another process imports. */
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { type BenchData, removeDatabase, spawnImport } from "./data.ts";
import { writeNdjson } from "./leads.ts";
import { note } from "./note.ts";
import { special } from "./scenarios.ts";
import { leadfile } from "./servers/contestants.ts";
import { serving, type Take } from "./servers/serving.ts";

/** More than is imported while it is measured. */
const maxImported = 200_000;

/** A copy of the file is served while the admin command imports leads of the next year into it. */
export async function duringImport(data: BenchData, take: Take): Promise<void> {
  const path = join(data.folder, "importing.db");
  removeDatabase(path);
  copyFileSync(data.leadfile, path);
  const source = await nextYear(data);
  try {
    await serving(leadfile(path, "warn"), data, async (server) => {
      const running = spawnImport(path, source);
      await running.stdin.end();
      for (const scenario of special) await take(server, "Leadfile, during import", scenario);
      if (running.exitCode !== null) note("The import was over before the measurement; its figures are too good.");
      running.kill("SIGKILL");
      await running.exited;
    });
  } finally {
    removeDatabase(path);
  }
}

async function nextYear({ folder, leads }: BenchData): Promise<string> {
  const path = join(folder, "next-year.ndjson");
  if (existsSync(path)) return path;
  const sink = Bun.file(path).writer();
  for (const text of writeNdjson(leads, leads + Math.min(leads, maxImported), leads)) {
    sink.write(text);
    await sink.flush();
  }
  await sink.end();
  return path;
}
