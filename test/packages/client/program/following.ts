/** `bun admin follow` as its owner runs it: a process of its own against a real server, with what it says. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../../../src/contract/lead.ts";
import { someLeads } from "../../../support/builders.ts";
import { endWithTest } from "../../../support/child.ts";
import { aFolder } from "../../../support/folder.ts";
import { serve } from "../../../support/harness.ts";

export const program = join(import.meta.dir, "../../../../src/admin.ts");

export interface Following {
  readonly folder: string;
  readonly exited: Promise<number>;
  /** All that it said on standard error so far. */
  readonly errors: () => string;
  /** The lines that it wrote to standard output so far. */
  readonly lines: () => readonly string[];
  end(signal?: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<number>;
}

interface Setup {
  readonly settings?: Readonly<Record<string, string>>;
  readonly folder?: string;
  /** The content of standard input, which stays open. */
  readonly input?: string;
  /** The descriptor that is its standard output; where there is none, what is written is kept. */
  readonly output?: number;
}

/** Starts it in a folder, without pauses between polls. */
export function follow(
  args: readonly string[],
  { settings = {}, folder = aFolder(), input = "", output }: Setup,
): Following {
  const child = Bun.spawn([process.execPath, program, "follow", ...args, "--every", "50ms"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...settings },
    stdin: "pipe",
    stdout: output ?? "pipe",
    stderr: "pipe",
  });
  endWithTest(child);
  child.stdin.write(input);
  void child.stdin.flush();
  const said = { output: "", errors: "" };
  const drained = Promise.all([
    gather(child.stdout instanceof ReadableStream ? child.stdout : new Blob().stream(), (text) => {
      said.output += text;
    }),
    gather(child.stderr, (text) => {
      said.errors += text;
    }),
  ]);
  const exited = child.exited.then(async (status) => {
    await drained;
    return status;
  });
  return {
    folder,
    exited,
    errors: () => said.errors,
    lines: () => said.output.split("\n").slice(0, -1),
    end(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
  };
}

async function gather(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const bytes of stream) take(decoder.decode(bytes, { stream: true }));
}

/** A server with leads, and the settings of a client of it. */
export async function aSource(count: number) {
  const leads = someLeads(count);
  const server = await serve({ leads });
  return { ...server, leads, settings: { LEADFILE_KEY: server.aKey() } };
}

/** Leads as they are written, a line each. */
export const written = (leads: readonly Lead[]): string[] => leads.map((lead) => JSON.stringify(lead));

/** The whole lines of a file; none where there is no file yet. */
export const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
