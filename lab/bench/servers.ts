/** The compared servers: Leadfile, the static server, and that of a user, each in a process of its own. */
import { project } from "../faults/breaking/build.ts";
import { startListening } from "../faults/product/program.ts";

export interface Contestant {
  readonly title: string;
  /** From the folder of the project on. */
  readonly program: string;
  /** The file that it serves. */
  readonly file: string;
}

/** Leadfile on a file, as `bun start` runs it. */
export const leadfile = (file: string, title = "Leadfile"): Contestant => ({ title, program: "src/main.ts", file });

/** The static server with the bytes of a file. */
export const staticServer = (file: string): Contestant => ({
  title: "static bytes",
  program: "lab/bench/static.ts",
  file,
});

/** The server that a user would write instead, on a relational file. */
export const hono = (file: string): Contestant => ({ title: "Hono + bun:sqlite", program: "lab/bench/hono.ts", file });

/** Runs a contestant for as long as the work takes, which is given its address. */
export async function serving<Result>({ program, file }: Contestant, work: (url: string) => Promise<Result>) {
  // Brings the file into the memory of the system: the disk is not what is compared.
  for await (const _ of Bun.file(file).stream());
  const settings = { DATABASE_PATH: file, PORT: "0", RATE_LIMIT_PER_MIN: "1000000000", LOG_LEVEL: "warn" };
  const env = { PATH: process.env["PATH"] ?? "", ...settings };
  const server = await startListening([process.execPath, program], env, project);
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
