/** `bun admin follow` as its owner runs it: a process of its own against a real server, with what it says. */

import { existsSync, readFileSync } from "node:fs";
import type { Lead } from "../../../../src/contract/lead.ts";
import { someLeads } from "../../../support/builders.ts";
import { aFolder } from "../../../support/folder.ts";
import { serve } from "../../../support/harness.ts";
import { adminCommand, start } from "../../../support/process.ts";

interface Setup {
  readonly settings?: Readonly<Record<string, string>>;
  readonly folder?: string;
  /** The content of standard input, which stays open. */
  readonly input?: string;
  /** The descriptor that is its standard output; without it, what is written is kept. */
  readonly output?: number;
}

/** Starts it in a folder, without pauses between polls. */
export function follow(args: readonly string[], { settings = {}, folder = aFolder(), input = "", output }: Setup) {
  const command = [...adminCommand, "follow", ...args, "--every", "50ms"];
  const running = start(settings, folder, command, { input, ...(output !== undefined && { output }) });
  return {
    ...running,
    /** The lines that it wrote to standard output so far. */
    lines: () => running.output().split("\n").slice(0, -1),
  };
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
