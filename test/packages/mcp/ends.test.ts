/** bun admin mcp ends with its client, after every result was sent. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { endWithTest } from "../../support/child.ts";
import { aFolder } from "../../support/folder.ts";
import { serve } from "../../support/harness.ts";
import { onTerminal } from "../../support/terminal.ts";
import { program } from "./agent.ts";

const hello = {
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a test", version: "1" } },
};
const call = (name: string) => ({ method: "tools/call", params: { name, arguments: {} } });
const line = (message: object, id: number) => `${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`;

/** The program on a server, with a standard input that the test writes. */
async function spawn() {
  const { url, aKey } = await serve();
  const child = Bun.spawn([process.execPath, program, "mcp", url], {
    cwd: aFolder(),
    env: { PATH: process.env["PATH"] ?? "", LEADFILE_KEY: aKey() },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  endWithTest(child);
  return child;
}

test("every request gets its result, even if standard input ends right after them", async () => {
  const { stdin, stdout, exited } = await spawn();
  stdin.write([hello, call("usage"), call("list_leads"), call("none")].map(line).join(""));
  stdin.end();
  const ids = (await stdout.text())
    .trim()
    .split("\n")
    .map((text): unknown => JSON.parse(text).id);
  expect(ids.toSorted()).toEqual([0, 1, 2, 3]);
  expect(await exited).toBe(0);
});

test("does not wait for a canceled request", async () => {
  const { stdin, stdout, exited } = await spawn();
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  stdin.write(`${[hello, call("list_leads")].map(line).join("")}${JSON.stringify(cancel)}\n`);
  stdin.end();
  expect(JSON.parse(await stdout.text())).toMatchObject({ id: 0 });
  expect(await exited).toBe(0);
});

test("ends silently when nobody reads its responses", async () => {
  const { stdin, stdout, stderr, exited } = await spawn();
  const reader = stdout.getReader();
  stdin.write(line(hello, 0));
  await reader.read();
  await reader.cancel();
  for (let id = 1; id < 20; id++) stdin.write(line(call("usage"), id));
  await stdin.flush();
  expect([await exited, await stderr.text()]).toEqual([0, ""]);
});

test("a message that is too large ends the program with one line", async () => {
  const { stdin, stderr, exited } = await spawn();
  // It ends before it has read all of this.
  const written = Promise.try(() => stdin.write("x".repeat(11 * 1024 * 1024)));
  await written.catch((cause) => expect(cause).toMatchObject({ code: "EPIPE" }));
  expect([await exited, await stderr.text()]).toEqual([
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
