/** The compared servers: Leadfile, the static server, and the peers, each in a process of its own. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { startListening } from "../faults/product/program.ts";
import { note } from "../progress.ts";
import type { BenchData } from "./data.ts";

export interface Contestant {
  readonly title: string;
  readonly command: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
}

const root = join(import.meta.dir, "../..");
const peersFolder = join(import.meta.dir, "peers");
const binary = join(peersFolder, "node_modules/better-sqlite3/build/Release/better_sqlite3.node");
const limit = { RATE_LIMIT_PER_MIN: "1000000000" };
const bun = (file: string) => [process.execPath, join(root, file)];

/** Leadfile on a file, as `bun start` runs it. */
export function leadfile(databasePath: string, title = "Leadfile"): Contestant {
  const settings = { ...limit, PORT: "0", LOG_LEVEL: "warn", DATABASE_PATH: databasePath };
  return { title, command: bun("src/main.ts"), settings };
}

/** The static server with the bytes of a file. */
export function staticServer(bodyPath: string): Contestant {
  return { title: "static bytes", command: bun("lab/bench/peers/static.ts"), settings: { BODY_PATH: bodyPath } };
}

/** Returns the peers that can run here, and says why the others cannot. */
export async function peersFor(data: BenchData): Promise<Contestant[]> {
  const settings = { ...limit, DATABASE_PATH: data.peers };
  const hono = { title: "Hono + bun:sqlite", command: bun("lab/bench/peers/hono.ts"), settings };
  const translated = join(peersFolder, "dist/fastify.mjs");
  const fastify = { title: "Fastify + better-sqlite3", command: [Bun.which("node") ?? "node", translated], settings };
  const candidates = [
    [hono, missingPackage("hono")],
    [fastify, await missingForFastify(translated)],
  ] as const;
  return candidates.flatMap(([peer, missing]) => {
    if (missing === null) return [peer];
    note(`Skipped ${peer.title}: ${missing}.`);
    return [];
  });
}

/** Installs the peers, and runs no script of theirs apart from the one that fetches or builds better-sqlite3. */
export async function installPeers(): Promise<void> {
  const run = async (...command: string[]) => {
    const ended = await Bun.$`${command}`.cwd(peersFolder).nothrow().quiet();
    if (ended.exitCode !== 0) note(`${command.join(" ")} ended with ${ended.exitCode}.`);
  };
  if (missingPackage("hono") !== null)
    await run(process.execPath, "install", "--frozen-lockfile", "--ignore-scripts", "--silent");
  if (!existsSync(binary) && Bun.which("npm") !== null) await run("npm", "rebuild", "better-sqlite3");
}

function missingPackage(name: string): string | null {
  return existsSync(join(peersFolder, "node_modules", name)) ? null : `lab/bench/peers is not installed (no ${name})`;
}

/** Node reads no TypeScript before its version 22, so the peer is translated for it. */
async function missingForFastify(translated: string): Promise<string | null> {
  if (Bun.which("node") === null) return "there is no node";
  const missing = missingPackage("fastify");
  if (missing !== null) return missing;
  if (!existsSync(binary)) return "better-sqlite3 has no binary for this machine";
  const source = join(peersFolder, "fastify.ts");
  const { outputs } = await Bun.build({ entrypoints: [source], target: "node", packages: "external" });
  await Bun.write(translated, outputs[0] ?? "");
  return null;
}

/** Runs a contestant for as long as the work takes, which is given its address. */
export async function serving<Result>(
  { command, settings }: Contestant,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const { DATABASE_PATH } = settings;
  // Brings the file into the memory of the system: the disk is not what is compared.
  if (DATABASE_PATH !== undefined) for await (const _ of Bun.file(DATABASE_PATH).stream());
  const server = await startListening(command, { PATH: process.env["PATH"] ?? "", ...settings });
  try {
    return await work(server.url);
  } finally {
    await server.end();
  }
}

/** Asks a server as a client does. */
export function ask(url: string, target: string, key: string | null): Promise<Response> {
  return fetch(url + target, { headers: key === null ? {} : { Authorization: `Bearer ${key}` } });
}
