/** The compared servers: Leadfile, the static server, and the peers, with their commands and packages. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BenchData } from "../data.ts";
import { note } from "../note.ts";

export type Name = "leadfile" | "static" | "hono" | "fastify" | "elysia";

export interface Contestant {
  readonly name: Name;
  readonly title: string;
  readonly command: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
}

const root = join(import.meta.dir, "../../..");
export const peersFolder = join(import.meta.dir, "../peers");
const translated = join(peersFolder, "dist/fastify.mjs");
const binary = join(peersFolder, "node_modules/better-sqlite3/build/Release/better_sqlite3.node");
const limit = { RATE_LIMIT_PER_MIN: "1000000000" };

/** Leadfile on a file, as `bun start` runs it. */
export function leadfile(databasePath: string, logLevel: "warn" | "info"): Contestant {
  return {
    name: "leadfile",
    title: logLevel === "warn" ? "Leadfile" : "Leadfile, log of requests",
    command: [process.execPath, join(root, "src/main.ts")],
    settings: { ...limit, PORT: "0", LOG_LEVEL: logLevel, DATABASE_PATH: databasePath },
  };
}

/** The static server with the bytes of a file. */
export function staticServer(bodyPath: string): Contestant {
  const command = [process.execPath, join(peersFolder, "static.ts")];
  return { name: "static", title: "static bytes", command, settings: { BODY_PATH: bodyPath } };
}

/** The peers that can run here; of the others it is said why they cannot. */
export async function peersFor(data: BenchData): Promise<Contestant[]> {
  const settings = { ...limit, DATABASE_PATH: data.peers };
  const bun = (name: Name, title: string): Contestant => ({
    name,
    title,
    command: [process.execPath, join(peersFolder, `${name}.ts`)],
    settings,
  });
  const found: Contestant[] = [];
  for (const peer of [
    { ...bun("hono", "Hono + bun:sqlite"), missing: missingPackage("hono") },
    { ...bun("elysia", "Elysia + Drizzle"), missing: missingPackage("elysia") },
    { ...fastify(settings), missing: await missingForFastify() },
  ]) {
    const { missing, ...contestant } = peer;
    if (missing === null) found.push(contestant);
    else note(`Skipped ${contestant.title}: ${missing}.`);
  }
  return found;
}

/** Installs the peers with no script of theirs but the one that fetches or builds better-sqlite3. */
export async function installPeers(): Promise<void> {
  if (missingPackage("hono") !== null) {
    note("Installing the peers.");
    await run([process.execPath, "install", "--frozen-lockfile", "--ignore-scripts", "--silent"]);
  }
  if (!existsSync(binary) && Bun.which("npm") !== null) {
    note("Fetching or building better-sqlite3; a build takes a minute.");
    await run(["npm", "rebuild", "better-sqlite3"]);
  }
}

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { cwd: peersFolder, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  const status = await child.exited;
  if (status !== 0) note(`${command.join(" ")} ended with ${status}.`);
}

function fastify(settings: Readonly<Record<string, string>>): Contestant {
  const command = [Bun.which("node") ?? "node", translated];
  return { name: "fastify", title: "Fastify + better-sqlite3", command, settings };
}

function missingPackage(name: string): string | null {
  return existsSync(join(peersFolder, "node_modules", name)) ? null : `lab/bench/peers is not installed (no ${name})`;
}

/** Node reads no TypeScript before its version 22, so the peer is translated for it. */
async function missingForFastify(): Promise<string | null> {
  if (Bun.which("node") === null) return "there is no node";
  const missing = missingPackage("fastify");
  if (missing !== null) return missing;
  if (!existsSync(binary)) return "better-sqlite3 has no binary for this machine";
  const source = join(peersFolder, "fastify.ts");
  const built = await Bun.build({ entrypoints: [source], target: "node", packages: "external" });
  const [output] = built.outputs;
  if (output === undefined) return "it could not be translated for Node";
  await Bun.write(translated, output);
  return null;
}
