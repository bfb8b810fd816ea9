/** A contestant while it runs: a process of its own, ended by its own process number. */
import type { Contestant } from "./contestants.ts";

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process to the first answer. */
  readonly startMs: number;
  /** Returns the memory of the process, in bytes. */
  memory(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a contestant and waits for its first answer to a page of leads. */
export async function start(contestant: Contestant, key: string): Promise<Server> {
  const startedMs = performance.now();
  const child = Bun.spawn([...contestant.command], {
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...contestant.settings },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  const url = await readUrl(reader, contestant.title);
  // A log of requests comes this way too: it is read and dropped, as by a collector.
  void drain(reader);
  const answer = await ask(url, "/api/v1/leads", key);
  if (!answer.ok) throw new Error(`${contestant.title} answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
  return {
    url,
    pid: child.pid,
    startMs: performance.now() - startedMs,
    memory: () => memoryOf(child.pid),
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

/** Asks a server as a client does. */
export function ask(url: string, target: string, key: string | null): Promise<Response> {
  return fetch(url + target, { headers: key === null ? {} : { Authorization: `Bearer ${key}` } });
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

async function readUrl(reader: Reader, title: string): Promise<string> {
  let said = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`${title} did not start: ${said}`);
    said += new TextDecoder().decode(value);
    const url = /^listening on (\S+)$/m.exec(said)?.[1];
    if (url !== undefined) return url;
  }
}

async function drain(reader: Reader): Promise<void> {
  while (!(await reader.read()).done);
}

async function memoryOf(pid: number): Promise<number> {
  const kilobytes = await Bun.$`ps -o rss= -p ${pid}`.text();
  return Number(kilobytes) * 1024;
}
