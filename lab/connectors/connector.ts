/** A connector under the real tool that it is made for: a server with leads, and runs that may be killed. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { answering } from "../../test/support/answering.ts";
import { aLead } from "../../test/support/builders.ts";
import { serve } from "../../test/support/harness.ts";
import { unless } from "../../test/support/needing.ts";
import { endWithTest } from "../../test/support/process.ts";

export const connectors = join(import.meta.dir, "../../connectors");

/** A program of a tool as .ci/run installs it; null where it is not there. */
export function toolOf(folder: string, program: string): string | null {
  const path = join(homedir(), ".cache/leadfile-tools", folder, program);
  return existsSync(path) ? path : null;
}

/** Makes tests that are skipped if their tool is missing. */
export const withTool = (tool: string | null) => unless(tool === null ? "not installed" : null);

/** Leads of some weeks, oldest first, so that windows of time have a few each; texts are not of one alphabet. */
export function leadsOfWeeks(count: number): Lead[] {
  const beginMs = Date.parse("2026-01-05T08:00:00.000Z");
  return Array.from({ length: count }, (_, n) =>
    aLead({
      identified_at: new Date(beginMs + n * 4 * 3_600_000 + (n % 1000)).toISOString(),
      name: n % 3 === 0 ? null : 'Łukasz "L" Ünal\nsecond line 漢',
      state: n % 2 === 0 ? "TX" : null,
    }),
  );
}

/** A lead half an hour before the newest one, and another right after it. */
export function moreThan(leads: readonly Lead[], afterMs = 1): { readonly late: Lead; readonly fresh: Lead } {
  const newestMs = Date.parse(leads.at(-1)?.identified_at ?? "");
  const at = (ms: number) => aLead({ identified_at: new Date(newestMs + ms).toISOString() });
  return { late: at(-1_800_000), fresh: at(afterMs) };
}

/** Two servers with leads, and an address that gives the answers of the first one, and then of the one that it is switched to. */
export async function twoAccountsAtOneAddress() {
  const [leads, older] = [leadsOfWeeks(40), leadsOfWeeks(90).slice(0, 30)];
  const [first, second] = [await serve({ leads }), await serve({ leads: older })];
  let upstream = first.url;
  const address = answering(({ url, headers }) => fetch(url.replace(/^http:\/\/[^/]+/, upstream), { headers }));
  return { leads, older, first, second, address, switchTo: (url: string) => void (upstream = url) };
}

interface Run {
  readonly args: readonly string[];
  readonly folder: string;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts a program of a tool, with nothing in its environment but what it is given. */
export function start(program: string, { args, folder, settings = {} }: Run) {
  const child = Bun.spawn([program, ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, PYTHONDONTWRITEBYTECODE: "1", ...settings },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  endWithTest(child);
  return child;
}

/** Runs it to its end and gives its standard output; throws with what it said when it fails. */
export async function finish(child: ReturnType<typeof start>): Promise<string> {
  const [output, errors, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(`ended with ${status}: ${errors.slice(-2000)}${output.slice(-2000)}`);
  return output;
}
