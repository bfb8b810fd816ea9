/** bun admin mcp, asked by the protocol's own client, in this process or in one of its own. */
import { onTestFinished } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Clock } from "../../../packages/client/src/time.ts";
import { masked } from "../../../packages/mcp/src/mask.ts";
import { createToolClient } from "../../../packages/mcp/src/mcp.ts";
import { createServer } from "../../../packages/mcp/src/server.ts";
import { aFolder } from "../../support/folder.ts";
import { serve } from "../../support/harness.ts";
import { adminCommand } from "../../support/process.ts";

export interface Said {
  readonly text: string;
  readonly isError: boolean;
}

/** The tools without a process, which takes its time to start. */
export function anAgent(url: string, key: string, clock?: Clock) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = createToolClient({ baseUrl: url, key, ...(clock === undefined ? {} : { clock }) });
  const server = createServer({ client, show: masked, now: Date.now });
  return connected(near, server.connect(far));
}

/** The same, of an account on a server of its own. */
export async function anAgentOf(setup: Parameters<typeof serve>[0] = {}) {
  const { url, aKey } = await serve(setup);
  return anAgent(url, aKey());
}

/** The program as an agent starts it. */
export function aProcess(url: string, key: string, ...options: readonly string[]) {
  const folder = aFolder();
  const [command = "", ...args] = [...adminCommand, "mcp", url, ...options];
  const transport = new StdioClientTransport({
    command,
    args,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, LEADFILE_KEY: key },
    cwd: folder,
  });
  return connected(transport, Promise.resolve());
}

/** The protocol's own client, and a way to call tools. */
async function connected(transport: Transport, ready: Promise<void>) {
  const client = new Client({ name: "a test", version: "1" });
  await ready;
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    async call(name: string, asked: Record<string, unknown> = {}): Promise<Said> {
      const { content, isError } = await client.callTool({ name, arguments: asked });
      const [part] = content as { type: string; text: string }[]; // One text is what every tool gives.
      return { text: part?.text ?? "", isError: isError === true };
    },
  };
}

interface Table {
  readonly columns: string[];
  readonly leads: (string | null)[][];
  readonly has_more: boolean;
  readonly next_before: string | null;
}

/** The table of an answer, as list_leads promises it. */
export const tableOf = ({ text }: Said): Table => JSON.parse(text);

/** All pages of a listing. */
export async function everyTable({
  call,
}: Awaited<ReturnType<typeof anAgent>>): Promise<{ text: string; table: Table }[]> {
  const pages: { text: string; table: Table }[] = [];
  for (let before: string | null = "2027-01-01T00:00:00Z"; before !== null; ) {
    const said: Said = await call("list_leads", { before });
    const table = tableOf(said);
    pages.push({ text: said.text, table });
    before = table.next_before;
  }
  return pages;
}
