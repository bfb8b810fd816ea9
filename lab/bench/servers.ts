/** The compared servers: Leadfile, the static server, and that of a user, each in a process of its own. */
import { join } from "node:path";
import { startListening } from "../faults/product/program.ts";

export interface Contestant {
  readonly title: string;
  readonly command: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
}

const root = join(import.meta.dir, "../..");
const limit = { RATE_LIMIT_PER_MIN: "1000000000" };
const bun = (file: string) => [process.execPath, join(root, file)];

/** Leadfile on a file, as `bun start` runs it. */
export function leadfile(databasePath: string, title = "Leadfile"): Contestant {
  const settings = { ...limit, PORT: "0", LOG_LEVEL: "warn", DATABASE_PATH: databasePath };
  return { title, command: bun("src/main.ts"), settings };
}

/** The static server with the bytes of a file. */
export function staticServer(bodyPath: string): Contestant {
  return { title: "static bytes", command: bun("lab/bench/static.ts"), settings: { BODY_PATH: bodyPath } };
}

/** The server that a user would write instead, on a relational file. */
export function hono(databasePath: string): Contestant {
  const settings = { ...limit, DATABASE_PATH: databasePath };
  return { title: "Hono + bun:sqlite", command: bun("lab/bench/hono.ts"), settings };
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
