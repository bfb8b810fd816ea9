/** bun admin mcp ends with its client, after every result was sent. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { aFolder } from "../../support/folder.ts";
import { serve } from "../../support/harness.ts";
import { adminCommand, start } from "../../support/process.ts";
import { onTerminal } from "../../support/terminal.ts";

const hello = {
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a test", version: "1" } },
};
const call = (name: string) => ({ method: "tools/call", params: { name, arguments: {} } });
const line = (message: object, id: number) => `${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`;

/** The program on a server, below a shell if need be. Its standard input has these lines, and stays open. */
async function begin(lines: readonly string[], under: readonly string[] = []) {
  const { url, aKey } = await serve();
  const command = [...under, ...adminCommand, "mcp", url];
  return start({ LEADFILE_KEY: aKey() }, aFolder(), command, { input: lines.join("") });
}

test("every request gets its result, even if standard input ends right after them", async () => {
  const { child, finished } = await begin([hello, call("usage"), call("list_leads"), call("none")].map(line));
  await child.stdin?.end();
  const { status, stdout } = await finished();
  const ids = stdout
    .trim()
    .split("\n")
    .map((text): unknown => JSON.parse(text).id);
  expect([status, ids.toSorted()]).toEqual([0, [0, 1, 2, 3]]);
});

test("does not wait for a canceled request", async () => {
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  const { child, finished } = await begin([...[hello, call("list_leads")].map(line), `${JSON.stringify(cancel)}\n`]);
  await child.stdin?.end();
  const { status, stdout } = await finished();
  expect([status, JSON.parse(stdout)]).toMatchObject([0, { id: 0 }]);
});

test("ends silently when nobody reads its responses", async () => {
  const readsOneLine = ["bash", "-o", "pipefail", "-c", '"$@" | head -n 1', "bash"];
  const { child, said, finished } = await begin([line(hello, 0)], readsOneLine);
  await said(/\n/);
  for (let id = 1; id < 20; id++) child.stdin?.write(line(call("usage"), id));
  await child.stdin?.flush();
  expect(await finished()).toMatchObject({ status: 0, stderr: "" });
});

test("a message that is too large ends the program with one line", async () => {
  const { child, exited, errors } = await begin([]);
  // It ends before it has read all of this.
  const written = Promise.try(() => child.stdin?.write("x".repeat(11 * 1024 * 1024)));
  await written.catch((cause) => expect(cause).toMatchObject({ code: "EPIPE" }));
  expect([await exited, errors()]).toEqual([
    1,
    "A message on standard input is larger than 10 MiB, which no tool accepts.\n",
  ]);
});

test("on a terminal, it says that it waits for an MCP client, and Ctrl-C ends it", async () => {
  const settings = { LEADFILE_KEY: "lf_0123456789" };
  const terminal = onTerminal(join(aFolder(), "none.db"), ["mcp", "http://127.0.0.1:9"], { settings });
  await terminal.seen(/Waiting for a program that speaks MCP/);
  terminal.type("\u0003");
  expect(await terminal.ended).toBe(0);
});
