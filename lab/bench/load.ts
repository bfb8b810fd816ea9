/** The load: wrk where the system has it, otherwise autocannon; 16 connections either way. */
import { join } from "node:path";
import { yearMs, yearStartMs } from "./leads.ts";
import { peersFolder } from "./servers/contestants.ts";

export interface Load {
  readonly url: string;
  /** Path and query; a varied one gets a `before` as well. */
  readonly target: string;
  /** True if each request asks for another place in the year. */
  readonly varied: boolean;
  readonly key: string;
  readonly seconds: number;
  /** Another one gives other places. */
  readonly seed: number;
}

export interface Measured {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests that got no answer, or one that is no 200. */
  readonly failed: number;
}

export const connections = 16;

/** The load generator of this machine. */
export const generator = Bun.which("wrk") === null ? "autocannon" : "wrk";

/** Puts a load on a server and returns the measurement. Throws if there is none. */
export async function putLoad(load: Load): Promise<Measured> {
  const command = generator === "wrk" ? wrkCommand(load) : autocannonCommand(load);
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const line = /^RESULT (.+)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`${generator} measured nothing: ${stdout}${stderr}`);
  const result = JSON.parse(line) as Result; // The line that wrk.lua and autocannon.mjs write.
  const { requests, seconds, ...rest } = result;
  return { requestsPerSecond: requests / seconds, ...rest };
}

interface Result extends Omit<Measured, "requestsPerSecond"> {
  readonly requests: number;
  readonly seconds: number;
}

// One thread: a second one would take the processor from the server where there are two.
function wrkCommand({ url, target, varied, key, seconds, seed }: Load): string[] {
  const options = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "--latency"];
  const script = ["-s", join(import.meta.dir, "wrk.lua"), "-H", `Authorization: Bearer ${key}`, url + target, "--"];
  return ["wrk", ...options, ...script, ...(varied ? ["varied", `${yearStartMs}`, `${yearMs}`, `${seed}`] : ["fixed"])];
}

function autocannonCommand(load: Load): string[] {
  const asked = { ...load, connections, yearStartMs, yearMs };
  return [Bun.which("node") ?? process.execPath, join(peersFolder, "autocannon.mjs"), JSON.stringify(asked)];
}
